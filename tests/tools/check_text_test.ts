/** `tools/check_text.ts`. */
import assert from "node:assert/strict";
import { checkText } from "../../tools/check_text.ts";
import { describe, it } from "../support/runner.ts";

/** A machine with one folder that others do not have. */
const isFolder = (path: string) => path === "/builds/agent";
const home = (user: string) => ["", "home", user].join("/");

describe("checkText()", () => {
  it("finds folders of people and of this machine, with their line", () => {
    assert.deepEqual(
      checkText(
        `one\n"${home("ada")}/tasks" and (/builds/agent/x.ts)\n`,
        isFolder,
      ),
      [`2: ${home("ada")}/tasks`, "2: /builds/agent/x.ts"],
    );
  });

  it("finds the hosts of package registries", () => {
    const host = ["registry", "example", "org"].join(".");
    assert.deepEqual(checkText(`https://${host}/zod`, isFolder), [
      `1: ${host}`,
    ]);
  });

  it("finds nothing in paths that mean the same everywhere, and in what only looks like a path", () => {
    for (
      const line of [
        "#!/usr/bin/env bash",
        "dir: /var/lib/tasks/log",
        "https://example.org/builds/agent",
        "../builds/agent/x.ts",
        "tests/builds/agent",
        "`tasks/get`, `/mcp/stream`",
        "the registry.",
        "registry.enter(stream)",
      ]
    ) {
      assert.deepEqual(checkText(line, isFolder), [], line);
    }
  });
});
