/** `tools/docs/page.ts`, on a small library. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiPage } from "../../tools/docs/page.ts";
import { clausesTable, withPart } from "../../tools/docs/parts.ts";
import { readLibrary } from "../../tools/docs/read.ts";
import { describe, it } from "../support/runner.ts";

const MAIN = `/**
 * A thing.
 *
 * @example
 * \`\`\`ts
 * make();
 * \`\`\`
 *
 * @module
 */

/** What went wrong. See {@linkcode Box}. */
export class AError extends Error {
  /** The stable code. */
  readonly code = "ERR_A";
  /** The box. */
  readonly box: string = "";
}

/** Holds things. */
export class Box<T> implements Iterable<T> {
  /** How many. */
  readonly size: number = 3;
  #secret = 1;
  /** Makes one. */
  constructor(
    // A comment.
    options: BoxOptions = {},
  ) {}
  /**
   * Opens one, as {@linkcode Box.close} does not.
   *
   * @param name The
   *   name.
   * @returns The box.
   * @throws {AError} \`ERR_A\`: it is stuck.
   */
  static async open(name: string, ...rest: number[]): Promise<Box<1>> {
    throw new AError();
  }
  /** Closes it. */
  close(): void {}
}

/** How to hold. */
export interface BoxOptions {
  /**
   * How it is lined.
   *
   * @default "silk"
   */
  readonly lining?: "silk" | "wool";
}
`;

/** The page of two entries, the second of which has something of the first. */
function page(): string {
  const root = mkdtempSync(join(tmpdir(), "page-"));
  try {
    writeFileSync(
      join(root, "deno.json"),
      JSON.stringify({ exports: { ".": "./mod.ts", "./more": "./more.ts" } }),
    );
    writeFileSync(join(root, "mod.ts"), MAIN);
    writeFileSync(
      join(root, "more.ts"),
      '/** More.\n *\n * @module\n */\nexport { Box } from "./mod.ts";\n/** One. */\nexport const ONE: number = 1;\n',
    );
    return apiPage(readLibrary(root), {
      name: "@acme/box",
      errors: {
        ERR_A: { name: "AError", rpcCode: -32603, remedy: "Shake | knock." },
      },
    });
  } finally {
    rmSync(root, { recursive: true });
  }
}

describe("apiPage()", () => {
  const text = page();
  const has = (part: string) =>
    assert.ok(text.includes(part), `${part}\n${text}`);

  it("lists the entries, each with the text of its module", () => {
    has("- [`@acme/box`](#acmebox)\n- [`@acme/box/more`](#acmeboxmore)");
    has("## @acme/box\n\nA thing.\n\n###");
  });

  it("shows members with their types, defaults and texts", () => {
    has('| `lining?` | `"silk" \\| "wool"` | `"silk"` | How it is lined. |');
    has("| `size` | `number` | How many. |");
    assert.ok(!text.includes("secret"));
  });

  it("shows what is called, without bodies, values and comments", () => {
    has("`class Box<T> implements Iterable<T>`");
    has("**`constructor(options?: BoxOptions)`**");
    has("**`static open(name: string, ...rest: number[]): Promise<Box<1>>`**");
    has(
      "- `name`: The\nname.\n- Returns: The box.\n- Throws [`AError`](#errors) `ERR_A`: it is stuck.",
    );
  });

  it("turns links of the sources to places of the page", () => {
    has("as [`Box.close`](#box) does not.");
  });

  it("has one row for each error, and no section", () => {
    has("| `ERR_A` | `AError` | `box` | -32603 | Shake \\| knock. |");
    assert.ok(!text.includes("#### AError"));
  });

  it("shows what several entries have once", () => {
    has("It also has [`Box`](#box), as another entry.");
    has("### Constants of ./more\n\n#### ONE\n\n`const ONE: number`");
    assert.equal(text.split("#### Box\n").length, 2);
  });
});

describe("withPart()", () => {
  const text = "# A\n<!-- Made by me: b -->\nold\n<!-- end -->\nmore\n";

  it("puts a part in its place, each time", () => {
    const once = withPart(text, "b", "new $1");
    assert.equal(
      once,
      "# A\n<!-- Made by me: b -->\n\nnew $1\n<!-- end -->\nmore\n",
    );
    assert.equal(withPart(once, "b", "new $1"), once);
  });

  it("refuses a document without the place", () => {
    assert.throws(() => withPart(text, "c", "new"), /place of c/);
  });

  it("is a table of clauses", () => {
    assert.equal(
      clausesTable({ S1: "one | two" }),
      "| clause | says |\n|---|---|\n| **S1** | one \\| two |\n",
    );
  });
});
