import assert from "node:assert/strict";
import type { InputResponses, InvalidInputResponseError } from "../../mod.ts";
import { describe, it } from "../support/runner.ts";
import {
  ask,
  inWorld,
  named,
  ProbeStore,
  refuses,
  unchanged,
  type World,
} from "../support/engine_world.ts";

/** A task that waits for answers. */
async function asked(
  { tasks }: World,
  ...keys: string[]
): Promise<{ taskId: string; answers: Promise<InputResponses> }> {
  const { taskId } = await tasks.createTask();
  const task = tasks.handle(taskId);
  const answers = task.requestInput(
    Object.fromEntries(keys.map((key) => [key, ask(key)])),
  );
  await task.progress("asked");
  return { taskId, answers };
}

const ack = { resultType: "complete" };

describe("updateTask()", () => {
  it("takes the answer to an open key and ignores an unknown one", () =>
    inWorld({}, async (world) => {
      const { taskId, answers } = await asked(world, "name");
      assert.deepEqual(
        await world.tasks.updateTask(taskId, {
          unknown: named("Eve"),
          name: named("Ada"),
          toString: 7,
        }),
        ack,
      );
      assert.deepEqual(await answers, { name: named("Ada") });
    }));

  it("takes the first answer, and acknowledges a repeated one", () =>
    inWorld({}, async (world) => {
      const { taskId, answers } = await asked(world, "first", "second");
      await world.tasks.updateTask(taskId, { first: named("Ada") });
      await unchanged(world.store, taskId, async () => {
        assert.deepEqual(
          await world.tasks.updateTask(taskId, { first: named("Eve") }),
          ack,
        );
      });
      await world.tasks.updateTask(taskId, { second: named("Bob") });
      assert.deepEqual((await answers).first, named("Ada"));
    }));

  it("of a task that waits for nothing is acknowledged and writes nothing", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      await unchanged(store, taskId, async () => {
        assert.deepEqual(
          await tasks.updateTask(taskId, { name: named("Ada") }),
          ack,
        );
        assert.deepEqual(await tasks.updateTask(taskId, {}), ack);
      });
    }));

  it("takes the good answers, names the bad one, and its key stays open", () =>
    inWorld({}, async (world) => {
      const { tasks } = world;
      const { taskId, answers } = await asked(world, "a", "b", "c");
      const error = await refuses(
        () =>
          tasks.updateTask(taskId, {
            a: named("A"),
            b: { action: "accept", content: { name: 7 } },
            c: named("C"),
          }),
        "ERR_INVALID_INPUT_RESPONSE",
        /^Cannot take an answer for task .+"b": .*name/,
      ) as InvalidInputResponseError;
      assert.deepEqual([...error.problems.keys()], ["b"]);
      const shown = await tasks.getTask(taskId);
      assert.deepEqual(
        shown.status === "input_required" && shown.inputRequests,
        { b: ask("b") },
      );
      await tasks.updateTask(taskId, { b: named("B") });
      assert.deepEqual(await answers, {
        a: named("A"),
        b: named("B"),
        c: named("C"),
      });
    }));

  it("with bad answers alone changes nothing and names each", () =>
    inWorld({}, async (world) => {
      const { tasks, store } = world;
      const { taskId } = await asked(world, "a", "b");
      await unchanged(store, taskId, async () => {
        const error = await refuses(
          () =>
            tasks.updateTask(taskId, {
              a: null,
              b: { action: "perhaps" },
              unknown: null,
            }),
          "ERR_INVALID_INPUT_RESPONSE",
          /2 answers/,
        ) as InvalidInputResponseError;
        assert.deepEqual([...error.problems.keys()], ["a", "b"]);
      });
    }));

  for (
    const wrong of [null, 42, "x", [], {}, { action: "accept" }, new Map()]
  ) {
    it(`refuses the answer ${JSON.stringify(wrong)} and keeps the key open`, () =>
      inWorld({}, async (world) => {
        const { taskId } = await asked(world, "name");
        await unchanged(world.store, taskId, () =>
          refuses(
            () => world.tasks.updateTask(taskId, { name: wrong }),
            "ERR_INVALID_INPUT_RESPONSE",
            /"name": /,
          ));
      }));
  }

  it("takes any accepted form where checkFormAnswers is off", () =>
    inWorld({ checkFormAnswers: false }, async (world) => {
      const { taskId, answers } = await asked(world, "name");
      const answer = { action: "accept", content: { nickname: "Ada" } };
      await world.tasks.updateTask(taskId, { name: answer });
      assert.deepEqual(await answers, { name: answer });
    }));

  it("takes a refusal for an answer", () =>
    inWorld({}, async (world) => {
      const { taskId, answers } = await asked(world, "name");
      await world.tasks.updateTask(taskId, { name: { action: "decline" } });
      assert.deepEqual(await answers, { name: { action: "decline" } });
    }));

  it("refuses an answer that does not fit into the task, and takes the others", () =>
    inWorld({ limits: { maxRecordBytes: 4_000 } }, async (world) => {
      const { tasks } = world;
      const { taskId, answers } = await asked(world, "big", "small");
      const error = await refuses(
        () =>
          tasks.updateTask(taskId, {
            big: named("x".repeat(3_000)),
            small: named("Ada"),
          }),
        "ERR_INVALID_INPUT_RESPONSE",
        /"big": the answer takes 30\d\d bytes, too many for the task/,
      ) as InvalidInputResponseError;
      assert.deepEqual([...error.problems.keys()], ["big"]);
      await tasks.updateTask(taskId, { big: named("less") });
      assert.deepEqual(await answers, {
        big: named("less"),
        small: named("Ada"),
      });
    }));

  it("takes a short answer to a request that fills the task", () =>
    inWorld({ limits: { maxRecordBytes: 4_000 } }, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      const fits = (length: number) => ({ name: ask("x".repeat(length)) });
      const { maxBytes, bytes } = await refuses(
        () => task.requestInput(fits(4_000)),
        "ERR_ENTRY_TOO_LARGE",
      ) as unknown as { maxBytes: number; bytes: number };
      const answers = task.requestInput(fits(4_000 - (bytes - maxBytes)));
      await tasks.updateTask(taskId, { name: named("Ada") });
      assert.deepEqual(await answers, { name: named("Ada") });
      assert.equal((await store.raw(taskId))?.status, "working");
    }));

  it("names the answers when the store takes less than it says", () => {
    class SmallStore extends ProbeStore {
      override update(
        ...args: Parameters<ProbeStore["update"]>
      ): ReturnType<ProbeStore["update"]> {
        const { inputResponses } = args[1];
        if (inputResponses) {
          const error = new Error("too large");
          return Promise.reject(
            Object.assign(error, { code: "ERR_ENTRY_TOO_LARGE" }),
          );
        }
        return super.update(...args);
      }
    }
    return inWorld({ store: new SmallStore() }, async (world) => {
      const { taskId } = await asked(world, "good", "bad");
      await unchanged(world.store, taskId, async () => {
        const error = await refuses(
          () =>
            world.tasks.updateTask(taskId, { good: named("Ada"), bad: null }),
          "ERR_INVALID_INPUT_RESPONSE",
          /"good": the task has no room for it/,
        ) as InvalidInputResponseError;
        assert.deepEqual([...error.problems.keys()].sort(), ["bad", "good"]);
      });
    });
  });

  it("says so when the store fails, and the keys stay open", () =>
    inWorld({}, async (world) => {
      const { taskId } = await asked(world, "name");
      world.store.failures.set("update", new Error("down"));
      await unchanged(world.store, taskId, () =>
        refuses(
          () => world.tasks.updateTask(taskId, { name: named("Ada") }),
          "ERR_STORE_FAILED",
        ));
    }));
});
