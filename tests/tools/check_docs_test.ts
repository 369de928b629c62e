/** `tools/docs/`, on small libraries with one fault each. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkDocs } from "../../tools/docs/check.ts";
import { type Library, readLibrary } from "../../tools/docs/read.ts";
import { describe, it } from "../support/runner.ts";

const ERRORS = {
  ERR_A: { name: "AError" },
  ERR_B: { name: "BError" },
};

/** Reads a library of these files, the first of which is its entry. */
function read(files: Readonly<Record<string, string>>): Library {
  const root = mkdtempSync(join(tmpdir(), "docs-"));
  try {
    const [entry] = Object.keys(files);
    writeFileSync(
      join(root, "deno.json"),
      JSON.stringify({ exports: { ".": `./${entry}` } }),
    );
    for (const [file, text] of Object.entries(files)) {
      writeFileSync(join(root, file), text);
    }
    return readLibrary(root);
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** What is wrong with a module that has a doc of its own; without the places. */
function problems(source: string, other = "export {};"): string[] {
  const library = read({
    "mod.ts":
      `/**\n * A module.\n *\n * \`\`\`ts\n * run();\n * \`\`\`\n *\n * @module\n */\n\n${source}`,
    "other.ts": other,
  });
  return checkDocs(library, ERRORS).map((problem) =>
    problem.replace(/^\S+: /, "")
  );
}

describe("checkDocs()", () => {
  it("finds nothing in what is documented", () => {
    assert.deepEqual(
      problems(
        `export { A, type AOptions, f, type T } from "./other.ts";`,
        `
/** A class. */
export class A {
  /** Its size. */
  readonly size: number = 0;
  #hidden = 1;
  private inner = 2;
  /**
   * Makes one.
   *
   * @param options The options.
   */
  constructor(options: AOptions) {
    const { retries = 1_000 * 3 } = options;
    this.size = retries;
  }
  /** Ends it. */
  end(): void {}
}
/** Its options. */
export interface AOptions {
  /**
   * How often.
   *
   * @default 3_000
   */
  readonly retries?: number;
  /** The name. */
  readonly name: string;
}
/**
 * A function.
 *
 * @param value A value.
 * @returns It.
 * @throws {AError} \`ERR_A\`: it is none.
 */
export function f(value: string): string {
  if (!value) throw new AError();
  return value;
}
/** A union. */
export type T = {
  /** Which. */
  readonly kind: "a";
} | string;
class AError extends Error {}`,
      ),
      [],
    );
  });

  for (
    const [what, source, found] of [
      ["a symbol without a text", "export interface I {}", [
        "I: it is not documented",
      ]],
      [
        "a member without a text",
        "/** I. */\nexport interface I { a: string }",
        [
          "I.a: it is not documented",
        ],
      ],
      [
        "a member of an object in a union without a text",
        "/** T. */\nexport type T = { a: string } | null;",
        ["T.a: it is not documented"],
      ],
      [
        "a member of a constant without a text",
        "/** C. */\nexport const C = { a: 1 } as const;",
        ["C.a: it is not documented"],
      ],
      [
        "parameters and results without a text, and parameters that are none",
        "/**\n * F.\n *\n * @param b What.\n */\nexport function f(a: string): number { return 1; }",
        [
          "f: @param a is missing",
          "f: @param b is no parameter",
          "f: @returns is missing",
        ],
      ],
      [
        "an option without a default",
        "/** O. */\nexport interface AOptions {\n  /** A. */\n  a?: string;\n}",
        ["AOptions.a: @default is missing"],
      ],
      [
        "throws without a class, without a code, with the code of another class, with one that is not there",
        "/**\n * F.\n *\n * @throws when it rains.\n * @throws {AError} It rains.\n * @throws {BError} `ERR_A`: it rains.\n * @throws {AError} `ERR_C`: it rains.\n */\nexport function f(): void {}",
        [
          "f: @throws when it rains. names no class: @throws {Class} `CODE`: …",
          "f: @throws {AError} does not go on with its code and a reason: `CODE`: …",
          "f: @throws {BError} has ERR_A, the code of AError",
          "f: @throws names ERR_C, which TASK_ERRORS lacks",
        ],
      ],
      [
        "what a body throws and nobody says",
        "/** F. */\nexport function f(): void { throw new AError(); }\nclass AError extends Error {}",
        ["f: it throws AError and has no @throws for it"],
      ],
    ] as const
  ) {
    it(`finds ${what}`, () => assert.deepEqual(problems(source), found));
  }

  it("finds a module without a doc", () => {
    assert.deepEqual(checkDocs(read({ "mod.ts": "export {};" }), ERRORS), [
      ".: its module is not documented",
    ]);
    const source = "/**\n * A module.\n *\n * @module\n */\nexport {};";
    assert.deepEqual(checkDocs(read({ "mod.ts": source }), ERRORS), [
      ".: its module has no example that runs",
    ]);
  });

  for (
    const [how, code] of [
      ["a table", "const TABLE: Partial<AOptions> = { a: 5 * 1_024 };"],
      ["a binding", "function f({ a = FIVE }: AOptions) {}"],
      [
        "a choice",
        "function f(options: AOptions) { return options.a ?? 5120; }",
      ],
      [
        "a condition",
        "function f(o: AOptions) { return o.a === undefined ? 5120 : o.a + 1; }",
      ],
      ["a call", 'function f(o: AOptions) { return check(o, "a", 5120); }'],
    ] as const
  ) {
    const source = (written: string) =>
      `const FIVE = 5_120;
declare function check(options: AOptions, name: string, value: number): number;
/** The options. */
export interface AOptions {
  /**
   * A.
   *
   * @default ${written}
   */
  readonly a?: number;
}
${code}`;
    it(`compares a default with the one of ${how}`, () => {
      assert.deepEqual(problems(source("5 KiB")), []);
      assert.deepEqual(problems(source("5_121")), [
        "AOptions.a: @default is 5_121, and the code has 5120",
      ]);
    });
  }
});
