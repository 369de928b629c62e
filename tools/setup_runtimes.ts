/**
 * Installs the pinned runtimes: `deno run -A tools/setup_runtimes.ts`. It needs no package, and says
 * something only where there is something to install.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The version that a dependency of a `package.json` asks for, `1.2.3` or `npm:name@1.2.3`. */
function pinnedVersion(specifier: string): string {
  return specifier.slice(specifier.lastIndexOf("@") + 1);
}

/**
 * The packages of a folder's `package.json` that are not in its `node_modules`, or not in the version
 * that is asked for.
 *
 * @param folder The folder.
 */
export function missingPackages(folder: string): string[] {
  const read = (path: string) =>
    JSON.parse(readFileSync(join(folder, path, "package.json"), "utf8"));
  const pinned: Readonly<Record<string, string>> = read("").dependencies;
  return Object.entries(pinned).filter(([name, specifier]) => {
    try {
      const { version } = read(join("node_modules", name));
      return version !== pinnedVersion(specifier);
    } catch {
      return true;
    }
  }).map(([name]) => name);
}

if (import.meta.main) {
  const folder = fileURLToPath(new URL("../tests/runtimes/", import.meta.url));
  const missing = missingPackages(folder);
  if (missing.length > 0) {
    console.log(
      `Installing the pinned runtimes (about 1 GB, the first time only): ${
        missing.join(", ")
      }`,
    );
  }
  const { status } = spawnSync(
    process.execPath,
    ["install", "--frozen", "--quiet"],
    { cwd: folder, stdio: "inherit" },
  );
  process.exitCode = status ?? 1;
}
