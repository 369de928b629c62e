/**
 * What is published is JavaScript. A Node that runs the sources keeps the compiler that takes their types away:
 * some 50 MB, which are none of the store's.
 */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import * as nodeModule from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What a figure may import. */
const SOURCES = ["mod.ts", "wal.ts", "src", "bench"];

const { stripTypeScriptTypes } = nodeModule as {
  stripTypeScriptTypes?: (code: string) => string;
};

/**
 * Gives the path of a program of the bench as its children should run it: on Node as JavaScript.
 *
 * @param program Where it is, from the root.
 * @param folder Where the JavaScript goes.
 * @returns The path.
 */
export function programIn(program: string, folder: string): string {
  const { versions } = process as { versions: { deno?: string; bun?: string } };
  if (versions.deno || versions.bun || !stripTypeScriptTypes) {
    return join(ROOT, program);
  }
  for (const source of SOURCES) {
    writePlain(source, folder, stripTypeScriptTypes);
  }
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
  return join(folder, toJs(program));
}

function writePlain(
  path: string,
  folder: string,
  strip: (code: string) => string,
): void {
  const from = join(ROOT, path);
  if (statSync(from).isDirectory()) {
    for (const name of readdirSync(from)) {
      writePlain(join(path, name), folder, strip);
    }
    return;
  }
  if (!path.endsWith(".ts")) return;
  const code = strip(readFileSync(from, "utf8"))
    .replace(/("\.{1,2}\/[^"\n]*)\.ts"/g, `$1.js"`);
  const to = join(folder, toJs(path));
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, code);
}

function toJs(path: string): string {
  return path.replace(/\.ts$/, ".js");
}
