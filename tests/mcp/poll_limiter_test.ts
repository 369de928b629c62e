import assert from "node:assert/strict";
import fc from "../support/fast_check.ts";
import { PollLimiter } from "../../mcp.ts";
import { isInvalidArgumentError } from "../../mod.ts";
import { send } from "../support/mcp_frames.ts";
import { startHost } from "../support/mcp_host.ts";
import { describe, it } from "../support/runner.ts";

const owner = "anonymous";

describe("PollLimiter", () => {
  /** A limiter on a clock of its own, for one task. */
  function limiter(options = {}) {
    let now = 50_000;
    const limits = new PollLimiter({ ...options, now: () => now });
    const poll = (taskId = "t", interval: number | undefined = 1_000) => {
      const retryAfterMs = limits.poll(owner, taskId);
      if (retryAfterMs === undefined) limits.shown(owner, taskId, interval);
      return retryAfterMs;
    };
    return { limits, poll, pass: (ms: number) => void (now += ms) };
  }

  it("lets a burst through, and then as many polls as it says", () => {
    const { poll, pass } = limiter({ burst: 3, pollsPerInterval: 5 });
    const outcomes = [];
    for (let i = 0; i < 4; i++) outcomes.push(poll());
    assert.deepEqual(outcomes, [undefined, undefined, undefined, 200]);
    pass(50);
    assert.equal(poll(), 150);
    pass(150);
    assert.equal(poll(), undefined);
    assert.equal(poll(), 200);
  });

  it("never meets a client that polls at the interval, with jitter", () => {
    fc.assert(fc.property(
      fc.integer({ min: 1, max: 60_000 }),
      fc.array(fc.double({ min: 0.5, max: 1.5, noNaN: true }), {
        minLength: 50,
        maxLength: 200,
      }),
      (interval, jitter) => {
        const { poll, pass } = limiter();
        for (const factor of jitter) {
          assert.equal(poll("t", interval), undefined);
          pass(interval * factor);
        }
      },
    ));
  });

  it("lets a client pass that waits as long as it was told", () => {
    const { poll, pass } = limiter();
    let refused = 0;
    for (let i = 0; i < 100; i++) {
      const retryAfterMs = poll();
      if (retryAfterMs === undefined) continue;
      refused++;
      pass(retryAfterMs);
      assert.equal(poll(), undefined);
    }
    assert.ok(refused > 40, `${refused}`);
  });

  it("saves up no more than a burst, however long the pause", () => {
    const { poll, pass } = limiter({ burst: 3 });
    poll();
    pass(3_600_000);
    for (let i = 0; i < 3; i++) assert.equal(poll(), undefined);
    assert.equal(poll(), 250);
  });

  it("takes nothing away when its clock goes back", () => {
    const { poll, pass } = limiter({ burst: 3 });
    poll();
    pass(-3_600_000);
    assert.equal(poll(), undefined);
    assert.equal(poll(), undefined);
  });

  it("follows an interval that changes, and forgets a task without one", () => {
    const { limits, poll, pass } = limiter({ burst: 1, pollsPerInterval: 2 });
    poll("t", 1_000);
    pass(500);
    assert.equal(poll("t", 8_000), undefined);
    assert.equal(poll(), 4_000);
    limits.shown(owner, "t", undefined);
    assert.equal(poll(), undefined);
  });

  it("tells principals and tasks apart", () => {
    const { limits, poll } = limiter({ burst: 1 });
    poll("t");
    assert.ok(poll("t")! > 0);
    assert.equal(limits.poll("other", "t"), undefined);
    assert.equal(limits.poll(undefined, "t"), undefined);
    assert.equal(poll("u"), undefined);
  });

  it("watches so many tasks, and forgets the one that was polled longest ago", () => {
    const { poll } = limiter({ burst: 1, maxTasks: 2 });
    poll("a");
    poll("b");
    assert.ok(poll("a")! > 0);
    poll("c");
    assert.ok(poll("a")! > 0, "a was polled after b");
    assert.equal(poll("b"), undefined, "b is forgotten");
  });

  it("refuses options that make no sense", () => {
    for (
      const options of [
        { pollsPerInterval: 1 },
        { pollsPerInterval: NaN },
        { pollsPerInterval: Infinity },
        { pollsPerInterval: "4" },
        { burst: 0 },
        { burst: 1.5 },
        { maxTasks: 0 },
        { maxTasks: Infinity },
        { now: 5 },
        { bursts: 5 },
        null,
      ]
    ) {
      assert.throws(
        () => new PollLimiter(options as never),
        (error) => isInvalidArgumentError(error),
        JSON.stringify(options),
      );
    }
  });
});

describe("AttachTasksOptions.pollLimiter", () => {
  it("answers -32029 with retryAfterMs, across requests, and to each principal alone", async () => {
    let now = 0;
    const pollLimiter = new PollLimiter({
      burst: 2,
      pollsPerInterval: 4,
      now: () => now,
    });
    const host = await startHost({ attach: { pollLimiter } });
    const { taskId } = await host.tasks.createTask({
      owner,
      pollIntervalMs: 2_000,
    });
    const get = (id = taskId, token?: string) =>
      send(host.url, "tasks/get", { taskId: id }, { token });
    for (let i = 0; i < 2; i++) assert.ok((await get()).result);
    const { error } = await get();
    assert.equal(error?.code, -32029);
    assert.deepEqual(error.data, { retryAfterMs: 500 });
    assert.match(error.message, /poll again in 500 ms/);
    assert.ok((await send(host.url, "tasks/cancel", { taskId })).result);
    now += 500;
    assert.ok((await get()).result);

    const unknown = "00000000-0000-4000-8000-000000000000";
    for (let i = 0; i < 20; i++) {
      const foreign = await get(taskId, "app/ann");
      assert.equal(foreign.error?.code, -32602);
      assert.equal(
        foreign.body,
        (await get(unknown, "app/ann")).body.replaceAll(unknown, taskId),
      );
    }
    await host.close();
  });

  it("is off by default", async () => {
    const host = await startHost();
    const { taskId } = await host.tasks.createTask({
      owner,
      pollIntervalMs: 60_000,
    });
    for (let i = 0; i < 30; i++) {
      assert.ok((await send(host.url, "tasks/get", { taskId })).result);
    }
    await host.close();
  });
});
