import assert from "node:assert/strict";
import {
  applyTaskPatch,
  MemoryTaskStore,
  TaskEntryTooLargeError,
  TaskLifecycle,
} from "../../mod.ts";
import { jsonBytes } from "../../src/model/json.ts";
import { describe, it } from "../support/runner.ts";
import { inWorld, ProbeStore, refuses } from "../support/engine_world.ts";

describe("I13 fail() always fits", () => {
  const errors = {
    "a huge message": { code: -32_001, message: "m".repeat(50_000) },
    "a huge message of wide characters": {
      code: -32_001,
      message: "\u{1f600}".repeat(50_000),
    },
    "a huge message of characters that JSON escapes": {
      code: -32_001,
      message: "\u0001".repeat(50_000),
    },
    "huge data": { code: -32_001, message: "m", data: ["d".repeat(50_000)] },
  };
  for (const [what, error] of Object.entries(errors)) {
    for (const maxRecordBytes of [400, 1_000, 9_000, 40_000]) {
      it(`${what} into a store that takes ${maxRecordBytes} bytes`, () =>
        inWorld(
          { store: new ProbeStore({ maxRecordBytes }) },
          async ({ tasks, store }) => {
            const { taskId } = await tasks.createTask();
            await tasks.handle(taskId).fail(error);
            const shown = await tasks.getTask(taskId);
            assert.ok(shown.status === "failed");
            assert.equal(shown.error.code, -32_001);
            assert.equal("data" in shown.error, false);
            assert.ok(error.message.startsWith(
              shown.error.message.replace("…", ""),
            ));
            assert.ok(jsonBytes(await store.raw(taskId)) <= maxRecordBytes);
          },
        ));
    }
  }

  /** A store with a limit that it does not tell. */
  class SilentStore extends ProbeStore {
    override async update(
      ...args: Parameters<ProbeStore["update"]>
    ): ReturnType<ProbeStore["update"]> {
      const [taskId, patch] = args;
      const bytes = jsonBytes(
        applyTaskPatch((await this.raw(taskId))!, patch),
      );
      if (bytes > 700) throw new TaskEntryTooLargeError(taskId, bytes, 700);
      return await super.update(...args);
    }
  }
  for (const [what, error] of Object.entries(errors)) {
    it(`${what} into a store that says nothing of its limit`, () =>
      inWorld({ store: new SilentStore() }, async ({ tasks }) => {
        const { taskId } = await tasks.createTask({
          statusMessage: "s".repeat(300),
        });
        const task = tasks.handle(taskId);
        await refuses(
          () => task.complete({ text: "x".repeat(700) }),
          "ERR_ENTRY_TOO_LARGE",
        );
        await task.fail(error);
        assert.equal((await tasks.getTask(taskId)).status, "failed");
      }));
  }

  it("into a record that a lowered limit leaves no room in", async () => {
    const store = new MemoryTaskStore();
    const before = new TaskLifecycle({ store });
    const { taskId } = await before.createTask({ owner: "o".repeat(900) });
    const task = before.handle(taskId);
    const question = { method: "roots/list", params: {} } as const;
    const asked = task.requestInput({ ["k".repeat(200)]: question });
    const after = new TaskLifecycle({ store, limits: { maxRecordBytes: 800 } });
    const owner = { owner: "o".repeat(900) };
    await after.cancelTask(taskId, owner);
    const second = after.handle(taskId);
    await refuses(() => second.complete({}), "ERR_ENTRY_TOO_LARGE");
    await second.fail({ code: -32_001, message: "no ink" });
    const shown = await after.getTask(taskId, owner);
    assert.deepEqual(shown.status === "failed" && shown.error, {
      code: -32_001,
      message: "no ink",
    });
    await assert.rejects(asked);
    await Promise.all([before.close(), after.close()]);
  });

  it("keeps the message's beginning and drops the data, where that is enough", () =>
    inWorld({ limits: { maxRecordBytes: 2_000 } }, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const message = `no ink: ${"m".repeat(400)}`;
      const data = "d".repeat(2_000);
      await tasks.handle(taskId).fail({ code: -32_001, message, data });
      const shown = await tasks.getTask(taskId);
      const short = `${message.slice(0, 255)}…`;
      assert.equal(shown.statusMessage, short);
      assert.deepEqual(shown.status === "failed" && shown.error, {
        code: -32_001,
        message: short,
      });
    }));

  it("says so when the store fails for another reason", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      store.failures.set("update", new Error("down"));
      await refuses(
        () => tasks.handle(taskId).fail({ code: -32_001, message: "m" }),
        "ERR_STORE_FAILED",
      );
      assert.equal(store.calls.update, 1);
    }));
});
