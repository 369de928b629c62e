/** `tools/picture/terminal.ts`. */
import assert from "node:assert/strict";
import { terminalPicture, wrap } from "../../tools/picture/terminal.ts";
import { describe, it } from "../support/runner.ts";

describe("wrap()", () => {
  it("breaks at spaces, and sets in what follows", () => {
    assert.deepEqual(wrap("  ok one two three four", 13), [
      "  ok one two",
      "     three",
      "     four",
    ]);
    assert.deepEqual(wrap("short", 13), ["short"]);
    assert.deepEqual(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
  });
});

describe("terminalPicture()", () => {
  const picture = terminalPicture([
    { text: "Act 1 <one>", atMs: 500 },
    { text: "", atMs: 500 },
    { text: "  working: a", atMs: 1_000 },
    { text: "  working: b", atMs: 3_000 },
    { text: "  ok done & dusted", atMs: 4_000 },
  ], { command: "deno task demo", columns: 40, maxMs: 2_000 });

  it("shows each line at its time, played as fast as it has to be", () => {
    assert.match(picture, /<tspan class="ok">\$<\/tspan> deno task demo/);
    assert.match(
      picture,
      /animation-delay:0\.25s"><tspan class="heading">Act 1 &lt;one><\/tspan>/,
    );
    assert.match(
      picture,
      /animation-delay:2\.00s"> {2}<tspan class="ok">ok<\/tspan> done &amp; dusted/,
    );
  });

  it("shows what moves in one row, and the last of it in the end", () => {
    const [, y] =
      /y="(\d+)" class="moving" style="animation-delay:0\.50s;animation-duration:1\.00s"> {2}working: a/
        .exec(picture) ?? [];
    assert.ok(y, picture);
    assert.match(
      picture,
      new RegExp(`y="${y}" class="line"[^>]*> {2}working: b`),
    );
  });
});
