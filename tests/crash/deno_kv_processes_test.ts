import assert from "node:assert/strict";
import process from "node:process";
import { DenoKvTaskStore } from "../../deno_kv.ts";
import { startChild } from "../support/child.ts";
import { assertAccounted } from "../support/deno_kv_audit.ts";
import { withKvFile } from "../support/deno_kv.ts";
import { assertOneOrder } from "../support/deno_kv_order.ts";
import { describe, it, runtime, skip } from "../support/runner.ts";

const CHILD = new URL("../support/deno_kv_child.ts", import.meta.url);
const PROCESSES = 3;

/** How many changes each process makes; `DENO_KV_CHANGES=2000` for a long run. */
const CHANGES = Number(process.env.DENO_KV_CHANGES ?? 120);

describe("DenoKvTaskStore, several processes on one file", () => {
  it(`make ${CHANGES} changes each, in one order for each task, while sweeps take their parts`, () =>
    withKvFile(async (kv, file) => {
      const children = Array.from(
        { length: PROCESSES },
        (_, i) =>
          startChild(CHILD, {
            args: ["share", file.path, `p${i}`, `${CHANGES}`],
          }),
      );
      await assertOneOrder(children, CHANGES, new DenoKvTaskStore(kv));
      await new DenoKvTaskStore(kv).sweep();
      await assertAccounted(kv);
    }));
});

describe("DenoKvTaskStore.watch()", () => {
  it("leaves nothing behind that a process would wait for", () =>
    withKvFile(async (_, file) => {
      const child = startChild(CHILD, { args: ["watch", file.path] });
      assert.deepEqual(
        await child.exited,
        { code: 0, signal: null },
        child.stderr(),
      );
      assert.deepEqual(child.lines, ["closed"]);
    }));
});

describe("DenoKvTaskStore", () => {
  const title =
    "keeps no process from ending by itself while a task waits for an answer";
  if (runtime !== "deno") {
    skip(title, "a handle of @deno/kv that is open may do so itself");
    return;
  }
  it(title, () =>
    withKvFile(async (_, file) => {
      const child = startChild(CHILD, { args: ["hold", file.path] });
      assert.deepEqual(
        await child.exited,
        { code: 0, signal: null },
        child.stderr(),
      );
      assert.deepEqual(child.lines, ["asked"]);
    }));
});
