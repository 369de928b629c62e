/**
 * Checks that no committed file names a folder of the machine it was written on, or a package
 * registry: `deno run -A tools/check_text.ts`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** Folders that every machine has, and that a text may name. */
const COMMON: ReadonlySet<string> = new Set(
  [
    "bin",
    "dev",
    "etc",
    "lib",
    "opt",
    "proc",
    "sbin",
    "srv",
    "sys",
    "tmp",
    "usr",
    "var",
  ],
);

/** Where people's own folders are, whether or not this machine has them. */
const PERSONAL = /^\/(?:home|Users|root)(?:\/|$)/;

/** An absolute path of two names or more; not the end of a URL, of a relative path or of a word. */
const ABSOLUTE = /(?<![\w.~:/@$}>)\]*-])\/[\w.@-]+(?:\/[\w.@-]+)+/g;

/** The host of a package registry, in a URL or by a name that everyone knows. */
const REGISTRY =
  /(?<=\/\/)registry\.[\w.-]*\w|\bregistry\.(?:npmjs|yarnpkg)\.\w+/g;

function isFolderHere(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** What of `text` names this machine or a registry, one line each. */
export function checkText(
  text: string,
  isFolder: (path: string) => boolean = isFolderHere,
): string[] {
  return text.split("\n").flatMap((line, index) => {
    const paths = (line.match(ABSOLUTE) ?? []).filter((path) => {
      const [, first, second] = path.split("/");
      return PERSONAL.test(path) ||
        (!COMMON.has(first) && isFolder(`/${first}/${second}`));
    });
    return [...paths, ...line.match(REGISTRY) ?? []].map((found) =>
      `${index + 1}: ${found}`
    );
  });
}

/** Whether a file holds text. */
const isText = (content: string) => !content.includes("\0");

if (import.meta.main) {
  const root = fileURLToPath(new URL("../", import.meta.url));
  const listed = spawnSync("git", ["ls-files", "-z"], {
    cwd: root,
    encoding: "utf8",
  });
  if (listed.status !== 0) {
    throw new Error(`Cannot list the committed files: ${listed.stderr}`);
  }
  for (const file of listed.stdout.split("\0").filter(Boolean)) {
    if (!existsSync(join(root, file))) continue; // deleted, and not committed yet
    const content = readFileSync(join(root, file), "utf8");
    for (const found of isText(content) ? checkText(content) : []) {
      console.error(`${file}:${found}`);
      process.exitCode = 1;
    }
  }
}
