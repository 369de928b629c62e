/** What `tools/npm.ts` makes a package of, and holds it against. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { problemsOf } from "../../tools/npm/bundling.ts";
import {
  deadLinks,
  linkedFiles,
  packedDocument,
  packedExample,
} from "../../tools/publish/documents.ts";
import { NPM_FACTS, type NpmFacts } from "../../tools/npm/facts.ts";
import {
  completeManifest,
  type DenoConfig,
  type PackedManifest,
} from "../../tools/npm/manifest.ts";
import { statesSize, withSize } from "../../tools/npm/readme_size.ts";
import { describe, it } from "../support/runner.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const packed: PackedManifest = {
  type: "module",
  main: "./a.js",
  types: "./a.d.ts",
  exports: {
    ".": { types: "./a.d.ts", default: "./a.js" },
    "./b": { types: "./b.d.ts", default: "./b.js" },
  },
};
const config: DenoConfig = {
  name: "@acme/a",
  version: "3.1.4",
  description: "An a.",
  license: "MIT",
  exports: { ".": "./a.ts", "./b": "./b.ts" },
};
const facts: NpmFacts = {
  keywords: ["a"],
  engines: { node: ">=20" },
  optionalPeers: { "@acme/peer": "^1.2.0" },
  repository: undefined,
  bundleBudgets: {},
};

describe("completeManifest()", () => {
  it("adds what deno pack has no place for", () => {
    assert.deepEqual(completeManifest(packed, config, facts), {
      name: "@acme/a",
      version: "3.1.4",
      description: "An a.",
      keywords: ["a"],
      license: "MIT",
      type: "module",
      main: "./a.js",
      types: "./a.d.ts",
      exports: { ...packed.exports, "./package.json": "./package.json" },
      sideEffects: false,
      engines: { node: ">=20" },
      peerDependencies: { "@acme/peer": "^1.2.0" },
      peerDependenciesMeta: { "@acme/peer": { optional: true } },
    });
  });

  it("names the repository where one is known", () => {
    const { repository, bugs } = completeManifest(packed, config, {
      ...facts,
      repository: "https://example.org/acme/a",
    });
    assert.deepEqual(repository, {
      type: "git",
      url: "git+https://example.org/acme/a.git",
    });
    assert.equal(bugs, "https://example.org/acme/a/issues");
  });

  it("refuses a dependency, and an entry that was left out", () => {
    const dependencies = { zod: "4.6.7" };
    assert.throws(
      () => completeManifest({ ...packed, dependencies }, config, facts),
      /zod as a dependency/,
    );
    const exports = { ...config.exports, "./c": "./c.ts" };
    assert.throws(
      () => completeManifest(packed, { ...config, exports }, facts),
      /Cannot pack \.\/c/,
    );
  });
});

describe("NPM_FACTS", () => {
  it("takes the lowest SDK that the tests run against", () => {
    const { dependencies } = JSON.parse(
      readFileSync(join(root, "tests/runtimes/package.json"), "utf8"),
    );
    const tested = Object.keys(dependencies).find((name) =>
      name.startsWith("server-")
    );
    assert.equal(
      NPM_FACTS.optionalPeers["@modelcontextprotocol/server"],
      `^${tested?.slice("server-".length)}`,
    );
  });

  it("takes the Node that the README names", () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const [, version] = /Node (\d+\.\d+)\+/.exec(readme) ?? [];
    assert.equal(NPM_FACTS.engines.node, `>=${version}`);
  });
});

describe("packed documents", () => {
  const has = (...files: string[]) => (path: string) => files.includes(path);

  it("point to what the package has of a source", () => {
    const text = "[a](../src/a.ts#x), [b](../src/b.ts) and [c](../src/c.ts)";
    assert.equal(
      packedDocument(text, "docs/x.md", has("src/a.d.ts", "src/b.js")),
      "[a](../src/a.d.ts#x), [b](../src/b.js) and [c](../src/c.ts)",
    );
  });

  it("have examples that import the package by its name", () => {
    const pack = (text: string) =>
      packedExample(text, "@a/b", { ".": "./mod.ts", "./x": "./x_y.ts" });
    assert.equal(
      pack(
        'import { a } from "../../mod.ts";\nimport { b } from "../../x_y.ts";\nimport { c } from "./c.ts";\n',
      ),
      'import { a } from "@a/b";\nimport { b } from "@a/b/x";\nimport { c } from "./c.ts";\n',
    );
    assert.throws(
      () => pack('import { a } from "../../src/a.ts";'),
      /Cannot pack an example: from "\.\.\/\.\.\/src\/a\.ts" is no entry/,
    );
  });

  it("bring the documents and examples that the README leads to", () => {
    const files = linkedFiles(root, "README.md");
    assert.ok(files.includes("docs/internals.md"));
    assert.ok(files.includes("examples/stdio/server.ts"));
    assert.ok(!files.includes("README.md"));
    assert.ok(files.every((file) => !file.startsWith("src/")));
  });

  it("have no dead link", () => {
    const texts: Readonly<Record<string, string>> = {
      "README.md": "[a](docs/a.md) [b](b)",
      "docs/a.md":
        "\n[c](../src/c.ts)\n[up](../README.md)\n[w](https://example.org)",
    };
    assert.deepEqual(
      deadLinks(
        "README.md",
        (file) => texts[file]!,
        has("README.md", "docs/a.md"),
      ),
      [
        "README.md:1: b is not in the package",
        "docs/a.md:2: ../src/c.ts is not in the package",
      ],
    );
  });
});

describe("the size in the README", () => {
  const readme =
    "In a browser bundle, minified\nand gzipped, it takes 16 kB.\n";

  it("is right within a thousand bytes", () => {
    for (const bytes of [14_001, 15_500, 17_000]) {
      assert.ok(statesSize(readme, bytes), `${bytes}`);
    }
    for (const bytes of [14_000, 17_001]) {
      assert.ok(!statesSize(readme, bytes), `${bytes}`);
    }
    assert.throws(() => statesSize("It is small.", 1), /Cannot find/);
  });

  it("is written in whole thousands", () => {
    assert.equal(
      withSize(readme, 20_400),
      "In a browser bundle, minified\nand gzipped, it takes 21 kB.\n",
    );
  });
});

describe("problemsOf()", () => {
  it("finds what a browser lacks in a bundle", () => {
    assert.deepEqual(
      problemsOf(
        'import a from "node:fs"; a(); await import("b"); process.exit(globalThis.Deno);',
      ),
      ["it imports node:fs", "it imports b", "it uses process", "it uses Deno"],
    );
    assert.deepEqual(
      problemsOf(
        "export const process = (Deno) => Deno.x; setTimeout(process);",
      ),
      [],
    );
  });
});
