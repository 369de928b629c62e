/** `tools/markdown/check.ts`, and what `tools/check_publish.ts` compares. */
import assert from "node:assert/strict";
import { blocksOf } from "../../tools/markdown/blocks.ts";
import {
  checkBlocks,
  checkLinks,
  checkTasks,
  type Project,
} from "../../tools/markdown/check.ts";
import { checkNamedTests } from "../../tools/markdown/tests_named.ts";
import { comparePublished, reached } from "../../tools/publish/files.ts";
import { describe, it } from "../support/runner.ts";

const FILES: Readonly<Record<string, string>> = {
  "README.md": "# A\n## Two words\n",
  "docs/a.md": "# A\n",
  "src/a.ts": "",
};
const project: Project = {
  read: (path) => FILES[path],
  isFolder: (path) => path === "docs",
  tasks: new Set(["test", "test:deno", "test:bun", "demo"]),
  quotable: ["const a = 1;\nfoo(a);\n"],
};

describe("checkLinks()", () => {
  const check = (text: string) => checkLinks("docs/b.md", text, project);

  it("follows links to files, folders and headings", () => {
    const text =
      "# Here\n[1](a.md) [2](../docs/) [3](../README.md#two-words) [4](#here) [5](../src/a.ts#L5) [6](https://example.org/x#y)";
    assert.deepEqual(check(text), []);
  });

  it("finds those that lead nowhere, with their lines", () => {
    assert.deepEqual(
      check("[1](c.md)\n[2](../README.md#three)\n[3](#here) [4](../out)"),
      [
        "docs/b.md:1: c.md: there is no docs/c.md",
        "docs/b.md:2: ../README.md#three: README.md has no such heading",
        "docs/b.md:3: #here: docs/b.md has no such heading",
        "docs/b.md:3: ../out: there is no out",
      ],
    );
  });
});

describe("checkTasks()", () => {
  const check = (text: string) => checkTasks("f", text, project);

  it("knows the tasks, however they are run", () => {
    assert.deepEqual(
      check(
        "deno task test\nnpx --yes deno@2.9.6 task demo --stdio\nrun_task 60 test:deno\n`deno task`",
      ),
      [],
    );
  });

  it("finds tasks that are none, with their lines", () => {
    assert.deepEqual(
      check("deno task tests\n\nrun_task 60 demos x\ndeno@3.1.4 task -q lint"),
      [
        "f:1: deno.json has no task tests",
        "f:3: deno.json has no task demos",
        "f:4: deno.json has no task lint",
      ],
    );
  });

  it("looks at each value of a matrix", () => {
    const run = "deno@2.9.6 task test:${{ matrix.runtime }}";
    assert.deepEqual(check(`  runtime: [deno, bun]\n${run}`), []);
    assert.deepEqual(
      check(`include:\n  - runtime: deno\n  - runtime: "node9"\n${run}`),
      ["f:4: deno.json has no task test:node9"],
    );
    assert.deepEqual(check(run), [
      "f:1: test:${{ matrix.runtime }}: the matrix has no such values",
    ]);
  });
});

describe("checkBlocks()", () => {
  const check = (text: string) => checkBlocks("f.md", text, project);

  it("takes what runs, what is quoted, and data", () => {
    const blocks = [
      "```ts\nrun();\n```",
      "```ts ignore\nfoo(a);\n```",
      '```jsonc\n// one\n{ "a": [1] }\n```',
      "  ```sh\n  ls\n  ```",
    ];
    assert.deepEqual(check(blocks.join("\n\n")), []);
  });

  it("finds what nobody proves right, with its line", () => {
    assert.deepEqual(
      check(
        "\n```ts ignore\nfoo(b);\n```\n```js\nrun();\n```\n```\nbare\n```",
      ),
      [
        "f.md:2: this is not run, and in no file of examples/ that is",
        'f.md:5: a block of "js" is neither run nor checked',
        'f.md:8: a block of "" is neither run nor checked',
      ],
    );
    assert.match(
      check("```json\n{ a: 1 }\n```")[0]!,
      /f\.md:1: this is no JSON/,
    );
  });
});

describe("blocksOf()", () => {
  it("gives their language, their text and their line", () => {
    assert.deepEqual(
      blocksOf("a\n  ```ts\n  one\n\n    two\n  ```\n````md\n```\n````\n"),
      [
        { info: "ts", text: "one\n\n  two\n", line: 2 },
        { info: "md", text: "```\n", line: 7 },
      ],
    );
  });
});

describe("what is published", () => {
  const sources: Readonly<Record<string, string>> = {
    "mod.ts": 'export { a } from "./src/a.ts";',
    "b.ts": 'import type { B } from "./src/b.ts"; import "node:fs";',
    "src/a.ts": 'export * from "./c.ts";',
    "src/b.ts": 'export type B = import("./d.ts").D;',
    "src/c.ts": "",
    "src/d.ts": "",
  };

  it("is what the entries reach, types too", () => {
    assert.deepEqual(
      reached(["./mod.ts", "./b.ts"], (file) => sources[file]!),
      ["b.ts", "mod.ts", "src/a.ts", "src/b.ts", "src/c.ts", "src/d.ts"],
    );
  });

  it("is compared with what would be", () => {
    const documents = ["CHANGELOG.md", "LICENSE", "README.md", "deno.json"];
    assert.deepEqual(
      comparePublished(
        [...documents, "docs/a.md", "mod.ts"],
        ["mod.ts"],
        ["docs/a.md"],
      ),
      [],
    );
    assert.deepEqual(
      comparePublished(
        [...documents, "src/x.ts"],
        ["mod.ts"],
        ["docs/a.md"],
      ),
      [
        "src/x.ts would be published, and neither an entry nor the README leads to it",
        "mod.ts would not be published: publish.include of deno.json leaves it out",
        "docs/a.md would not be published: publish.include of deno.json leaves it out",
      ],
    );
  });
});

describe("checkNamedTests()", () => {
  const tests: Readonly<Record<string, string>> = {
    "tests/a_test.ts":
      'it("does (one) thing", () => {});\nit(`gives ${x} for ${y}`, f);',
  };
  const check = (text: string) =>
    checkNamedTests("f.md", text, (path) => tests[path]);

  it("finds the tests, in tables and over two lines", () => {
    assert.deepEqual(
      check(
        '| `tests/a_test.ts`: "does (one) thing", "gives … for …" |\n`tests/a_test.ts`: "does\n(one) thing"\n`tests/a_test.ts`',
      ),
      [],
    );
  });

  it("tells which are not there, with their lines", () => {
    assert.deepEqual(
      check(
        '`tests/b_test.ts`: "x"\n\n`tests/a_test.ts`: "one", "does (one) thing", "gives … to …"',
      ),
      [
        "f.md:1: there is no tests/b_test.ts",
        'f.md:3: tests/a_test.ts has no test "one"',
        'f.md:3: tests/a_test.ts has no test "gives … to …"',
      ],
    );
  });
});
