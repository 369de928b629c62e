/** The rules of who may import what, as data. */

/** The layers from the bottom up, each with those that it may import beside itself. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  model: ["errors"],
  store: ["errors", "model"],
  engine: ["errors", "model", "store"],
  mcp: ["errors", "model", "store", "engine"],
};

/** What every backend, a folder of `src/` that is no layer, may import beside itself. */
const BACKEND: readonly string[] = ["errors", "model", "store"];

/** Entries that are more than the door to the folder of their name. */
const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  "mod.ts": ["errors", "model", "store", "engine"],
};

/** Entries whose whole graph needs no runtime: no `node:` module is reached from them. */
export const RUNTIME_FREE: readonly string[] = [
  "mod.ts",
  "cloudflare.ts",
  "deno_kv.ts",
  "mcp.ts",
  "testing.ts",
];

/** Globals that some runtime lacks. Published code uses none of them, not even to look whether they are there. */
export const RUNTIME_GLOBALS: ReadonlySet<string> = new Set([
  "Buffer",
  "Bun",
  "Deno",
  "__dirname",
  "__filename",
  "clearImmediate",
  "global",
  "process",
  "require",
  "setImmediate",
]);

/** `node:` modules that one file alone may import: the seams to the disk and to the lock. */
const SEAMS: Readonly<Record<string, string>> = {
  "node:fs": "src/wal/disk.ts",
  "node:fs/promises": "src/wal/disk.ts",
  "node:sqlite": "src/wal/lock.ts",
};

/** Folders that may import other `node:` modules. */
const NODE_FOLDERS: readonly string[] = ["src/wal/"];

/** The layer, the backend or the entry that a published file belongs to. */
export function partOf(file: string): string {
  const inner = /^src\/([^/]+?)(?:\.ts|\/.*)$/.exec(file);
  return inner ? inner[1] : file;
}

/** Why `from` may not import the published file `to`; `undefined` when it may. */
export function refuseFile(from: string, to: string): string | undefined {
  const [part, target] = [partOf(from), partOf(to)];
  if (!to.startsWith("src/")) {
    return `an entry is imported by nobody, and ${to} is one`;
  }
  if (part === target) return undefined;
  const entry = !from.startsWith("src/");
  const own = part.replace(/\.ts$/, "");
  const allowed = entry
    ? ENTRIES[part] ?? [own, ...LAYERS[own] ?? BACKEND]
    : LAYERS[part] ?? BACKEND;
  if (allowed.includes(target)) return undefined;
  return `${part} may import ${
    allowed.length ? allowed.join(", ") : "nothing"
  }, and ${to} is of ${target}`;
}

/** Why the published file `from` may not import the `node:` module; `undefined` when it may. */
export function refuseNode(from: string, module: string): string | undefined {
  const seam = SEAMS[module];
  if (seam) return from === seam ? undefined : `${module} is for ${seam} alone`;
  if (NODE_FOLDERS.some((folder) => from.startsWith(folder))) return undefined;
  return `${module} needs a runtime; node: modules are for ${
    NODE_FOLDERS.join(", ")
  }`;
}
