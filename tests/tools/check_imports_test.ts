/** `tools/check_imports.ts`, on trees that break each rule. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { checkImports } from "../../tools/check_imports.ts";
import { describe, it } from "../support/runner.ts";

/** A tree that keeps every rule, and uses every word that a rule could mistake for a breach. */
const RIGHT: Readonly<Record<string, string>> = {
  "deno.json": JSON.stringify({
    exports: {
      ".": "./mod.ts",
      "./wal": "./wal.ts",
      "./mcp": "./mcp.ts",
      "./testing": "./testing.ts",
    },
  }),
  "mod.ts":
    `export { a } from "./src/engine/a.ts"; export type { E } from "./src/errors.ts";`,
  "wal.ts": `export { w } from "./src/wal/store.ts";`,
  "mcp.ts":
    `export { m } from "./src/mcp/attach.ts"; export type { A } from "./src/engine/a.ts";`,
  "testing.ts": `export { k } from "./src/testing/check.ts";`,
  "src/testing/check.ts":
    `import { s } from "../store/memory.ts"; export const k = s;`,
  "src/errors.ts": `export interface E { readonly process: string }`,
  "src/model/record.ts": `
    import type { E } from "../errors.ts";
    // Deno.readFile() and process.exit() in a comment
    export const text = "Deno.env, process.env, Buffer";
    export function record(process: E, options: { Buffer: number }): number {
      const { Buffer: size } = options;
      return process.process.length + size + { Deno: 4 }.Deno;
    }`,
  "src/store/memory.ts":
    `import { record } from "../model/record.ts"; export const s = record;`,
  "src/engine/a.ts": `
    import { s } from "../store/memory.ts";
    import "./b.ts";
    export interface A { readonly s: typeof s }
    export const a = globalThis.crypto ?? s;`,
  "src/engine/b.ts": `export {};`,
  "src/mcp/attach.ts":
    `import { a } from "../engine/a.ts"; export const m = a;`,
  "src/wal/store.ts": `
    import { s } from "../store/memory.ts";
    import { disk } from "./disk.ts";
    import { lock } from "./lock.ts";
    import { join } from "node:path";
    import process from "node:process";
    export const w = [s, disk, lock, join, process];`,
  "src/wal/disk.ts": `import * as fs from "node:fs"; export const disk = fs;`,
  "src/wal/lock.ts":
    `import { DatabaseSync } from "node:sqlite"; export const lock = DatabaseSync;`,
  "tests/x_test.ts": `
    import fc from "fast-check";
    import { readFileSync } from "node:fs";
    import { a } from "../mod.ts";
    export const x = [fc, readFileSync, a, Deno.pid];`,
};

/** What is wrong with the right tree once some of its files are others. */
function problems(changes: Readonly<Record<string, string>>): string[] {
  const root = mkdtempSync(join(tmpdir(), "imports-"));
  try {
    for (const [file, source] of Object.entries({ ...RIGHT, ...changes })) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), source);
    }
    return checkImports(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

describe("checkImports()", () => {
  it("finds nothing in a tree that keeps every rule", () => {
    assert.deepEqual(problems({}), []);
  });

  const layers: readonly [file: string, specifier: string][] = [
    ["src/errors.ts", "./model/record.ts"],
    ["src/model/up.ts", "../store/memory.ts"],
    ["src/store/up.ts", "../engine/a.ts"],
    ["src/engine/up.ts", "../mcp/attach.ts"],
    ["src/engine/side.ts", "../wal/store.ts"],
    ["src/wal/up.ts", "../engine/a.ts"],
    ["src/sqlite/side.ts", "../wal/store.ts"],
    ["src/mcp/side.ts", "../wal/store.ts"],
    ["src/testing/up.ts", "../engine/a.ts"],
    ["src/testing/side.ts", "../wal/store.ts"],
    ["src/engine/out.ts", "../../mod.ts"],
    ["src/engine/out.ts", "../../tests/x_test.ts"],
    ["mod.ts", "./src/mcp/attach.ts"],
    ["mod.ts", "./src/wal/store.ts"],
    ["wal.ts", "./src/engine/a.ts"],
    ["mcp.ts", "./mod.ts"],
    ["testing.ts", "./src/engine/a.ts"],
  ];
  for (const [file, specifier] of layers) {
    for (
      const [kind, source] of [
        ["an import", `import { x } from "${specifier}"; export const y = x;`],
        [
          "a type import",
          `import type { X } from "${specifier}"; export type Y = X;`,
        ],
        ["a re-export", `export { x } from "${specifier}";`],
        ["an import()", `export const x = await import("${specifier}");`],
        ["an import type", `export type X = import("${specifier}").X;`],
      ]
    ) {
      it(`finds ${kind} of ${specifier} in ${file}`, () => {
        const found = problems({ [file]: `\n${source}` });
        assert.ok(found.length >= 1);
        assert.match(found[0], new RegExp(`^${file}:2: `));
      });
    }
  }

  it("finds remote modules, in any file", () => {
    for (
      const specifier of [
        "jsr:@std/assert",
        "https://example.org/x.ts",
        "http://example.org/x.ts",
        "npm:zod",
      ]
    ) {
      for (
        const file of [
          "src/model/far.ts",
          "tests/far_test.ts",
          "examples/deep/far.ts",
        ]
      ) {
        const found = problems({
          [file]: `import x from "${specifier}"; export { x };`,
        });
        assert.equal(found.length, 1);
        assert.ok(found[0].startsWith(`${file}:1: ${specifier}: `), found[0]);
      }
    }
  });

  it("finds packages in published code, types too", () => {
    for (const file of ["src/mcp/sdk.ts", "src/wal/sdk.ts", "mcp.ts"]) {
      for (const word of ["import", "import type"]) {
        const found = problems({
          [file]:
            `${word} { x } from "@scope/sdk/server"; export type X = typeof x;`,
        });
        assert.deepEqual(found, [
          `${file}:1: @scope/sdk/server: published code imports no package, not even its types`,
        ]);
      }
    }
  });

  it("finds node: modules outside of their files", () => {
    const seen = (file: string, module: string) =>
      problems({ [file]: `import * as x from "${module}"; export { x };` });
    assert.deepEqual(seen("src/model/fs.ts", "node:path"), [
      "src/model/fs.ts:1: node:path needs a runtime; node: modules are for src/wal/",
    ]);
    assert.deepEqual(seen("src/wal/segment.ts", "node:fs"), [
      "src/wal/segment.ts:1: node:fs is for src/wal/disk.ts alone",
    ]);
    assert.deepEqual(seen("src/wal/segment.ts", "node:fs/promises").length, 1);
    assert.deepEqual(seen("src/wal/disk.ts", "node:sqlite"), [
      "src/wal/disk.ts:1: node:sqlite is for src/wal/lock.ts alone",
    ]);
    assert.equal(seen("src/testing/check.ts", "node:test").length, 2);
    assert.deepEqual(seen("src/wal/segment.ts", "node:zlib"), []);
  });

  it("names the way from an entry that needs no runtime to a node: module", () => {
    assert.deepEqual(
      problems({ "src/engine/b.ts": `import "node:os";` }).filter((line) =>
        line.includes(" > ")
      ),
      ["mod.ts", "mcp.ts"].map((entry) =>
        `${entry} > src/engine/a.ts > src/engine/b.ts > node:os: an entry that needs no runtime reaches a node: module`
      ),
    );
  });

  for (
    const [name, use] of [
      ["Deno", "export const x = Deno.pid;"],
      ["Deno", "export type X = Deno.Kv;"],
      ["Deno", "export const x = globalThis.Deno;"],
      [
        "Deno",
        `export const x = (globalThis as unknown as { Deno: 1 })["Deno"];`,
      ],
      ["Deno", "declare const Deno: { pid: number }; export const x = 1;"],
      ["process", `export const x = typeof process === "object";`],
      ["process", "export const x = { process };"],
      ["process", "export const x = (globalThis as any).process?.pid;"],
      ["Buffer", `export const x = Buffer.from("x");`],
      ["Bun", "export const x = () => Bun.version;"],
      ["require", `export const x = require("node:fs");`],
    ]
  ) {
    it(`finds the global in ${use}`, () => {
      for (const file of ["src/model/g.ts", "src/wal/g.ts", "src/mcp/g.ts"]) {
        assert.ok(
          problems({ [file]: use }).includes(
            `${file}:1: ${name} is a global that some runtime lacks`,
          ),
        );
      }
    });
  }

  it("finds imports that cannot be followed, and files that are not there", () => {
    assert.equal(
      problems({
        "src/model/c.ts": "export const x = (n: string) => import(n);",
      }).length,
      1,
    );
    assert.deepEqual(
      problems({ "src/model/c.ts": `export * from "./gone.ts";` }),
      [
        "src/model/c.ts:1: ./gone.ts: there is no src/model/gone.ts",
      ],
    );
    assert.deepEqual(
      problems({
        "deno.json": JSON.stringify({
          exports: { ".": "./mod.ts", "./kv": "./kv.ts" },
        }),
      })
        .filter((line) => line.startsWith("deno.json")),
      ["deno.json exports kv.ts, which is not there"],
    );
  });
});
