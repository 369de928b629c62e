/** Entries in a bundle for browsers: nothing of a runtime in them, and how large they are. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { RUNTIME_GLOBALS } from "../imports/rules.ts";
import { scan } from "../imports/scan.ts";
import { say } from "./consumer.ts";
import { specifierOf } from "./loading.ts";

/** A bundle of an entry. */
export interface Bundle {
  /** Its size, minified and gzipped. */
  readonly bytes: number;
  /** What in it a browser lacks, one line each. */
  readonly problems: readonly string[];
}

/** What a bundle needs that a browser lacks. */
export function problemsOf(bundle: string): string[] {
  const { imports, computedImports, globals } = scan("bundle.ts", bundle);
  return [
    ...imports.map(({ text }) => `it imports ${text}`),
    ...computedImports.map(({ text }) => `it imports ${text}`),
    ...globals.filter(({ text }) => RUNTIME_GLOBALS.has(text)).map((
      { text },
    ) => `it uses ${text}`),
  ];
}

/**
 * Bundles an entry of the installed package for browsers.
 *
 * @param folder The project that has it.
 * @param name The package.
 * @param entry The entry.
 */
export function bundleEntry(
  folder: string,
  name: string,
  entry: string,
): Bundle {
  writeFileSync(
    join(folder, "entry.mjs"),
    `export * from ${JSON.stringify(specifierOf(name, entry))};\n`,
  );
  const { ok, output } = say(process.execPath, [
    "bundle",
    "--quiet",
    "--node-modules-dir=manual",
    "--platform=browser",
    "--minify",
    "--external=node:*",
    "--output=bundle.js",
    "entry.mjs",
  ], folder);
  if (!ok) return { bytes: 0, problems: [`it cannot be bundled: ${output}`] };
  const bundle = readFileSync(join(folder, "bundle.js"));
  return {
    bytes: gzipSync(bundle, { level: 9 }).length,
    problems: problemsOf(bundle.toString()),
  };
}
