/** `tools/markdown/links.ts`. */
import assert from "node:assert/strict";
import { anchorsOf, linksOf, pathOf } from "../../tools/markdown/links.ts";
import { describe, it } from "../support/runner.ts";

const targets = (text: string) => linksOf(text).map(({ target }) => target);

describe("linksOf()", () => {
  it("finds links, pictures, references and HTML, with their lines", () => {
    const text = `[a](b.md "c")\n![d](e.svg)\n\n[f]: g.md\n<img src="h.png">`;
    assert.deepEqual(linksOf(text).map(({ target, line }) => [target, line]), [
      ["b.md", 1],
      ["e.svg", 2],
      ["g.md", 4],
      ["h.png", 5],
    ]);
  });

  it("finds a link with code in its text, and one that goes over two lines", () => {
    assert.deepEqual(targets("[`a`](b.md#c)\n[one\ntwo](d.md)"), [
      "b.md#c",
      "d.md",
    ]);
  });

  it("finds none in code and in comments", () => {
    const text =
      "`[a](b)` ``[`a](c)``\n```ts\n[a](d)\n```\n  ~~~\n[a](e)\n  ~~~\n<!-- [a](f) -->";
    assert.deepEqual(targets(text), []);
  });
});

describe("anchorsOf()", () => {
  it("makes anchors as GitHub does", () => {
    const text =
      "# A `code()`, and [a link](b.md)!\n## Two\n## Two\n### new_name — S1–S9\n";
    assert.deepEqual([...anchorsOf(text)], [
      "a-code-and-a-link",
      "two",
      "two-1",
      "new_name--s1s9",
    ]);
  });

  it("makes none of what is in code", () => {
    assert.deepEqual([...anchorsOf("```sh\n# a comment\n```\n")], []);
  });
});

describe("pathOf()", () => {
  it("tells files from addresses and places", () => {
    assert.equal(pathOf("docs/a%20b.md#c"), "docs/a b.md");
    assert.equal(pathOf("#c"), "");
    for (const url of ["https://example.org/a", "mailto:a@example.org"]) {
      assert.equal(pathOf(url), undefined);
    }
  });
});
