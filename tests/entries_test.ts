/** The entries of `deno.json`, loaded together. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { startChild } from "./support/child.ts";
import { describe, it } from "./support/runner.ts";

const config = JSON.parse(
  readFileSync(new URL("../deno.json", import.meta.url), "utf8"),
);

describe("every entry", () => {
  for (
    const [name, path] of Object.entries(
      config.exports as Record<string, string>,
    )
  ) {
    it(`${name} loads, and exports something`, async () => {
      const entry = await import(new URL(`../${path}`, import.meta.url).href);
      assert.ok(Object.keys(entry).length > 0);
    });
  }

  it("does nothing when loaded: the process ends by itself and says nothing", async () => {
    const child = startChild(
      new URL("support/load_entries.ts", import.meta.url),
    );
    assert.deepEqual(
      await child.exited,
      { code: 0, signal: null },
      child.stderr(),
    );
    assert.deepEqual(child.lines, []);
  });
});
