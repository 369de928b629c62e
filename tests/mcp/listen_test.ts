import assert from "node:assert/strict";
import {
  createMcpHandler,
  type InMemoryServerEventBus,
  McpServer,
  SUBSCRIPTION_ID_META_KEY,
} from "@modelcontextprotocol/server";
import {
  ANONYMOUS_OWNER,
  withStdioTaskNotifications,
  withTaskNotifications,
} from "../../mcp.ts";
import {
  isInvalidArgumentError,
  isLimitExceededError,
  type TaskLifecycle,
} from "../../mod.ts";
import { listenHost } from "../../src/mcp/listen_options.ts";
import { SUBSCRIPTION_ID_KEY } from "../../src/mcp/protocol.ts";
import { send, sendLegacy } from "../support/mcp_frames.ts";
import {
  listen,
  listenHandler,
  type ListenHostOptions,
  type Listening,
  type ListeningHost,
  listenRequest,
  readListening,
  startListenHost,
} from "../support/mcp_listen.ts";
import { describe, it } from "../support/runner.ts";

const UNKNOWN = "00000000-0000-4000-8000-000000000000";
const SERVER_INFO = {
  "io.modelcontextprotocol/serverInfo": {
    name: "listen-tests",
    version: "3.2.1",
  },
};

async function withHost(
  options: ListenHostOptions,
  body: (host: ListeningHost) => Promise<void>,
): Promise<void> {
  const host = await startListenHost(options);
  try {
    await body(host);
    assert.deepEqual(host.errors, []);
  } finally {
    await host.close();
  }
  assert.equal(host.listeners(), 0);
}

async function newTask(
  tasks: TaskLifecycle,
  init: { owner?: string; ttlMs?: number | null } = {},
): Promise<string> {
  const owner = ANONYMOUS_OWNER;
  return (await tasks.createTask({ owner, ...init })).taskId;
}

/** Reads the acknowledgement. */
async function acknowledged(stream: Listening): Promise<object> {
  const { method, params } = await stream.next();
  assert.equal(method, "notifications/subscriptions/acknowledged");
  return params.notifications;
}

/** Reads the end of a stream that ends in good order. */
async function ended(stream: Listening, id: unknown = "listen-7") {
  assert.deepEqual(await stream.next(), {
    jsonrpc: "2.0",
    id,
    result: {
      resultType: "complete",
      _meta: { [SUBSCRIPTION_ID_KEY]: id, ...SERVER_INFO },
    },
  });
  assert.equal(await stream.next(), undefined);
}

/** Waits until there are so many listeners, as a server learns late that a client has gone. */
async function listenersAre(host: ListeningHost, count: number) {
  while (host.listeners() !== count) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

describe("subscriptions/listen with taskIds", () => {
  it("acknowledges, shows the task, tells of every change in order, and ends with it", () =>
    withHost({}, async ({ url, tasks }) => {
      const taskId = await newTask(tasks);
      const task = tasks.handle(taskId);
      await task.progress("before");
      const stream = await listen(url, { taskIds: [taskId] });
      assert.equal(stream.status, 200);
      assert.equal(
        stream.headers.get("cache-control"),
        "no-cache, no-transform",
      );
      assert.deepEqual(await acknowledged(stream), { taskIds: [taskId] });

      const get = async () => {
        const { result } = await send(url, "tasks/get", { taskId });
        const { resultType: _, _meta, ...shown } = result;
        return shown;
      };
      const same = async () => {
        const { _meta, ...told } = await stream.task();
        assert.deepEqual(told, await get());
        return told;
      };
      assert.equal((await same()).statusMessage, "before");
      await task.progress("after", { pollIntervalMs: 1_234 });
      assert.equal((await same()).pollIntervalMs, 1_234);
      const answer = task.requestInput({
        where: { method: "roots/list" },
        which: {
          method: "elicitation/create",
          params: {
            message: "Which?",
            requestedSchema: { type: "object", properties: {} },
          },
        },
      });
      assert.deepEqual(Object.keys((await same()).inputRequests), [
        "where",
        "which",
      ]);
      const answers = { which: { action: "decline" } };
      await tasks.updateTask(taskId, answers, { owner: ANONYMOUS_OWNER });
      assert.deepEqual(Object.keys((await same()).inputRequests), ["where"]);
      await tasks.updateTask(taskId, { where: { roots: [] } }, {
        owner: ANONYMOUS_OWNER,
      });
      assert.equal((await same()).status, "working");
      await answer;
      await task.complete({ structuredContent: [3, null] });
      assert.deepEqual((await same()).result, {
        resultType: "complete",
        structuredContent: [3, null],
        content: [{ type: "text", text: "[3,null]" }],
      });
      await ended(stream);
    }));

  it("leaves the result of a request that is no tool call as it is", () =>
    withHost({}, async ({ url, tasks }) => {
      const { taskId } = await tasks.createTask({
        owner: ANONYMOUS_OWNER,
        method: "prompts/get",
      });
      await tasks.handle(taskId).complete({ messages: [] });
      const stream = await listen(url, { taskIds: [taskId] });
      await acknowledged(stream);
      const { result } = await stream.task();
      const got = await send(url, "tasks/get", { taskId });
      assert.deepEqual(result, got.result.result);
      assert.ok(!("content" in result));
      await ended(stream);
    }));

  it("has the key of the SDK", () => {
    assert.equal(SUBSCRIPTION_ID_KEY, SUBSCRIPTION_ID_META_KEY);
  });

  it("stamps an id that is a number, and zero", () =>
    withHost({}, async ({ url, tasks }) => {
      const taskId = await newTask(tasks);
      for (const id of [0, 41]) {
        const stream = await listen(url, { taskIds: [taskId] }, { id });
        await acknowledged(stream);
        await stream.task();
        await stream.leave();
      }
    }));

  it("tells of several tasks, each id once, and ends after the last", () =>
    withHost({}, async ({ url, tasks }) => {
      const [a, b, c] = [
        await newTask(tasks),
        await newTask(tasks),
        await newTask(tasks),
      ];
      await tasks.handle(b).cancelled("not wanted");
      const stream = await listen(url, { taskIds: [b, c, a, b, c] });
      assert.deepEqual(await acknowledged(stream), { taskIds: [b, c, a] });
      for (const taskId of [b, c, a]) {
        assert.equal((await stream.task()).taskId, taskId);
      }
      await tasks.handle(a).fail({ code: -32_050, message: "no ink" });
      const failed = await stream.task();
      assert.deepEqual(failed.error, { code: -32_050, message: "no ink" });
      await tasks.handle(c).progress("still here");
      assert.equal((await stream.task()).statusMessage, "still here");
      await tasks.handle(c).complete({});
      assert.equal((await stream.task()).status, "completed");
      await ended(stream);
    }));

  it("shows a task that has ended, and ends", () =>
    withHost({}, async ({ url, tasks }) => {
      const taskId = await newTask(tasks);
      await tasks.handle(taskId).complete({ content: [] });
      const stream = await listen(url, { taskIds: [taskId] });
      await acknowledged(stream);
      assert.equal((await stream.task()).status, "completed");
      await ended(stream);
    }));

  it("tells of 200 changes that come at once", () =>
    withHost({}, async ({ url, tasks }) => {
      const taskId = await newTask(tasks);
      const stream = await listen(url, { taskIds: [taskId] });
      await acknowledged(stream);
      await stream.task();
      const steps = Array.from({ length: 200 }, (_, i) => `step ${i}`);
      const task = tasks.handle(taskId);
      await Promise.all(steps.map((step) => task.progress(step)));
      for (const step of steps) {
        assert.equal((await stream.task()).statusMessage, step);
      }
      await stream.leave();
    }));

  it("delivers a result that is larger than the bound of a slow reader", () =>
    withHost({}, async ({ url, tasks }) => {
      const taskId = await newTask(tasks);
      const stream = await listen(url, { taskIds: [taskId] });
      await acknowledged(stream);
      await stream.task();
      const text = "ü".repeat(1_500_000);
      await tasks.handle(taskId).complete({
        content: [{ type: "text", text }],
      });
      assert.equal((await stream.task()).result.content[0].text, text);
      await ended(stream);
    }));

  it("shows more tasks than may wait for a slow reader", () =>
    withHost({ notifications: { maxTaskIds: 400 } }, async ({ url, tasks }) => {
      const taskIds = [];
      for (let i = 0; i < 400; i++) taskIds.push(await newTask(tasks));
      const stream = await listen(url, { taskIds });
      await acknowledged(stream);
      for (const taskId of taskIds) {
        assert.equal((await stream.task()).taskId, taskId);
      }
      await stream.leave();
    }));
});

describe("subscriptions/listen with taskIds and more", () => {
  it("tells of both, stays when the tasks have ended, and ends with the handler", () =>
    withHost({}, async ({ url, tasks, handler }) => {
      const taskId = await newTask(tasks);
      const stream = await listen(url, {
        toolsListChanged: true,
        taskIds: [taskId],
      });
      assert.deepEqual(await acknowledged(stream), {
        toolsListChanged: true,
        taskIds: [taskId],
      });
      await stream.task();
      handler.notify.toolsChanged();
      const { method } = await stream.next();
      assert.equal(method, "notifications/tools/list_changed");
      await tasks.handle(taskId).complete({});
      assert.equal((await stream.task()).status, "completed");
      handler.notify.toolsChanged();
      assert.equal((await stream.next()).method, method);
      await handler.close();
      await ended(stream);
    }));

  it("ends with the handler also when a task has not ended", () =>
    withHost({}, async ({ url, tasks, handler }) => {
      const taskIds = [await newTask(tasks)];
      const stream = await listen(url, { toolsListChanged: true, taskIds });
      await acknowledged(stream);
      await stream.task();
      await handler.close();
      await ended(stream);
    }));

  it("leaves nothing with the SDK when it is refused, or the client goes", async () => {
    const { handler, tasks, listeners } = listenHandler();
    const subscriptions = () =>
      (handler.bus as InMemoryServerEventBus).listenerCount;
    const taskIds = [await newTask(tasks)];
    const open = async (ask: unknown) => {
      const filter = { toolsListChanged: true, taskIds: ask };
      const request = listenRequest("http://host/mcp", filter);
      return await readListening(await handler.fetch(request));
    };
    assert.equal((await open(7)).error?.code, -32_602);
    assert.equal(subscriptions(), 0);
    const stream = await open(taskIds);
    await acknowledged(stream);
    await stream.task();
    assert.deepEqual([subscriptions(), listeners()], [1, 1]);
    await stream.leave();
    assert.deepEqual([subscriptions(), listeners()], [0, 0]);
    await handler.close();
    await tasks.close();
  });

  it("keeps the connection open also when the tasks have ended", () =>
    withHost({ notifications: { keepAliveMs: 7 } }, async ({ url }) => {
      const stream = await listen(url, { toolsListChanged: true, taskIds: [] });
      assert.deepEqual(await acknowledged(stream), {
        toolsListChanged: true,
        taskIds: [],
      });
      assert.match((await stream.frame())!, /^: /);
      assert.match((await stream.frame())!, /^: /);
      await stream.leave();
    }));
});

describe("subscriptions/listen without taskIds", () => {
  it("is the SDK's alone", () =>
    withHost({ notifications: { maxStreamsPerOwner: 1 } }, async ({ url }) => {
      for (let i = 0; i < 3; i++) {
        const stream = await listen(url, {}, { capabilities: {} });
        assert.deepEqual(await acknowledged(stream), {});
        await ended(stream);
      }
    }));
});

describe("the checks of the SDK", () => {
  it("come first: of headers, of the envelope, of the filter", () =>
    withHost({}, async ({ url, tasks }) => {
      const taskId = await newTask(tasks);
      const ask = { taskIds: [taskId] };
      const code = async (notifications: unknown, headers = {}) =>
        (await listen(url, notifications, { headers })).error?.code;
      assert.equal(await code(ask, { "mcp-method": "tools/list" }), -32_020);
      assert.equal(
        await code(ask, { "mcp-protocol-version": "2025-11-25" }),
        -32_020,
      );
      assert.equal(await code(undefined), -32_602);
      assert.equal(await code(null), -32_602);
      assert.equal(await code({ ...ask, toolsListChanged: "yes" }), -32_602);
      const capabilities = "none" as unknown as object;
      const { error } = await listen(url, ask, { capabilities });
      assert.equal(error?.code, -32_602);
    }));

  it("answer a client of revision 2025-11-25, which knows no such method", () =>
    withHost({}, async ({ url, tasks }) => {
      const taskId = await newTask(tasks);
      const { error } = await sendLegacy(url, "subscriptions/listen", {
        notifications: { taskIds: [taskId] },
      });
      assert.equal(error?.code, -32_601);
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-method": "subscriptions/listen",
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "subscriptions/listen",
          params: { notifications: { taskIds: [taskId] } },
        }),
      });
      assert.match(await response.text(), /"code":-32601/);
    }));
});

describe("a client that does not declare the extension", () => {
  it("gets -32021 with the needed capability when it asks for tasks", () =>
    withHost({}, async ({ url, tasks }) => {
      const taskId = await newTask(tasks);
      const asks = [[taskId], [UNKNOWN], [], "x", null];
      for (const taskIds of asks) {
        const { status, error } = await listen(url, { taskIds }, {
          capabilities: { tasks: {} },
        });
        assert.equal(status, 400);
        assert.equal(error?.code, -32_021);
        assert.deepEqual(error?.data, {
          requiredCapabilities: {
            extensions: { "io.modelcontextprotocol/tasks": {} },
          },
        });
      }
    }));
});

describe("taskIds", () => {
  it("that are no array of strings are -32602", () =>
    withHost({}, async ({ url, tasks }) => {
      const taskId = await newTask(tasks);
      const wrong: [unknown, string][] = [
        [taskId, `"${taskId}"`],
        [null, "null"],
        [{ 0: taskId }, "an object"],
        [[taskId, 7], "an array with 7"],
        [[null], "an array with null"],
        [[[taskId]], "an array with an array of 1"],
      ];
      for (const [taskIds, shown] of wrong) {
        const { status, error } = await listen(url, { taskIds });
        assert.equal(status, 200);
        assert.equal(error?.code, -32_602);
        assert.equal(
          error?.message,
          `Cannot listen to tasks: notifications.taskIds is ${shown}, an array of strings is needed`,
        );
      }
    }));

  it("that are too many are -32602, counted without repeats", () =>
    withHost({ notifications: { maxTaskIds: 3 } }, async ({ url }) => {
      const { status, error } = await listen(url, {
        taskIds: ["a", "b", "a", "c", "d"],
      });
      assert.equal(status, 200);
      assert.deepEqual(error, {
        code: -32_602,
        message: "Cannot listen to 4 tasks on one stream: maxTaskIds is 3",
        data: { code: "ERR_LIMIT_EXCEEDED", limit: "maxTaskIds", maximum: 3 },
      });
      const stream = await listen(url, { taskIds: ["a", "b", "a", "c", "c"] });
      assert.deepEqual(await acknowledged(stream), { taskIds: [] });
      await ended(stream);
    }));

  it("may be 100 where nobody says otherwise", () =>
    withHost({}, async ({ url }) => {
      const ids = (n: number) => Array.from({ length: n }, (_, i) => `id ${i}`);
      const { error } = await listen(url, { taskIds: ids(101) });
      assert.equal(error?.code, -32_602);
      const stream = await listen(url, { taskIds: ids(100) });
      assert.deepEqual(await acknowledged(stream), { taskIds: [] });
      await ended(stream);
    }));

  it("of nobody, of somebody else, and of an expired task are left out alike", async () => {
    let now = 1_800_000_000_000;
    await withHost(
      { lifecycle: { now: () => now } },
      async ({ url, tasks }) => {
        const expired = await newTask(tasks, {
          owner: '["ann",null]',
          ttlMs: 1,
        });
        now += 5_000;
        const ids = {
          unknown: UNKNOWN,
          expired,
          unowned: (await tasks.createTask()).taskId,
          anonymous: await newTask(tasks),
          bobs: await newTask(tasks, { owner: '["bob",null]' }),
        };
        const seen = new Set<string>();
        for (const id of Object.values(ids)) {
          const stream = await listen(url, { taskIds: [id] }, { token: "ann" });
          assert.deepEqual(await acknowledged(stream), { taskIds: [] });
          await ended(stream);
          seen.add(stream.frames.join());
        }
        assert.equal(seen.size, 1);

        const anns = await newTask(tasks, { owner: '["ann",null]' });
        const stream = await listen(url, {
          taskIds: [...Object.values(ids), anns],
        }, { token: "ann" });
        assert.deepEqual(await acknowledged(stream), { taskIds: [anns] });
        assert.equal((await stream.task()).taskId, anns);
        await tasks.handle(ids.bobs).progress("secret");
        await tasks.handle(anns).progress("mine");
        assert.equal((await stream.task()).statusMessage, "mine");
        await stream.leave();
      },
    );
  });

  it("belong to whom TaskNotificationsOptions.owner says", () =>
    withHost({
      notifications: {
        owner: ({ http, mcpReq }) => {
          assert.equal(mcpReq.method, "subscriptions/listen");
          assert.equal(mcpReq.id, "listen-7");
          assert.deepEqual(mcpReq._meta, {});
          return http?.authInfo && `tenant of ${http.authInfo.clientId}`;
        },
      },
    }, async ({ url, tasks }) => {
      const taskId = await newTask(tasks, { owner: "tenant of ann" });
      const open = (await tasks.createTask()).taskId;
      for (
        const [token, taskIds] of [
          ["ann", [taskId]],
          ["bob", []],
          [undefined, [open]],
        ] as const
      ) {
        const stream = await listen(url, { taskIds: [taskId, open] }, {
          token,
        });
        assert.deepEqual(await acknowledged(stream), { taskIds });
        await stream.leave();
      }
    }));
});

describe("the streams of an owner", () => {
  it("are limited, and another owner has its own", () =>
    withHost({ notifications: { maxStreamsPerOwner: 2 } }, async (host) => {
      const { url, tasks } = host;
      const taskId = await newTask(tasks, { owner: '["ann",null]' });
      const bobs = await newTask(tasks, { owner: '["bob",null]' });
      const open = (token: string, id: string) =>
        listen(url, { taskIds: [id] }, { token });
      const asked = await Promise.all(
        [1, 2, 3, 4].map(() => open("ann", taskId)),
      );
      const streams = asked.filter(({ error }) => !error);
      const refused = asked.filter(({ error }) => error);
      assert.equal(streams.length, 2);
      for (const { status, error } of refused) {
        assert.equal(status, 200);
        assert.deepEqual(error, {
          code: -32_602,
          message:
            "Cannot listen to tasks: the caller has too many streams open; close one, or poll tasks/get: maxStreamsPerOwner is 2",
          data: {
            code: "ERR_LIMIT_EXCEEDED",
            limit: "maxStreamsPerOwner",
            maximum: 2,
          },
        });
      }
      const other = await open("bob", bobs);
      assert.equal(other.error, undefined);

      for (const stream of [...streams, other]) {
        await acknowledged(stream);
        await stream.task();
      }
      assert.equal(host.listeners(), 3);
      await streams[0].leave();
      await listenersAre(host, 2);
      const again = await open("ann", taskId);
      assert.equal(again.error, undefined);
      assert.equal((await open("ann", taskId)).error?.code, -32_602);
      for (const stream of [streams[1], again, other]) await stream.leave();
    }));

  it("are given back by a refusal, and by a stream that ended", () =>
    withHost({ notifications: { maxStreamsPerOwner: 1 } }, async (host) => {
      const taskId = await newTask(host.tasks);
      await host.tasks.handle(taskId).complete({});
      for (let i = 0; i < 5; i++) {
        assert.equal(
          (await listen(host.url, { taskIds: 7 })).error?.code,
          -32_602,
        );
        const stream = await listen(host.url, { taskIds: [taskId] });
        await acknowledged(stream);
        await stream.task();
        await ended(stream);
      }
    }));
});

describe("a stream", () => {
  it("leaves nothing behind when its client goes, 1,000 times", () =>
    withHost({}, async (host) => {
      const taskId = await newTask(host.tasks);
      for (let i = 0; i < 1_000; i++) {
        const stream = await listen(host.url, { taskIds: [taskId] });
        await acknowledged(stream);
        if (i % 2 === 0) await stream.task();
        await stream.leave();
      }
      await listenersAre(host, 0);
    }));

  it("is kept open by comments, and nothing else", () =>
    withHost({ notifications: { keepAliveMs: 9 } }, async ({ url, tasks }) => {
      const taskId = await newTask(tasks);
      const stream = await listen(url, { taskIds: [taskId] });
      await acknowledged(stream);
      await stream.task();
      for (let i = 0; i < 4; i++) {
        assert.equal(await stream.frame(), ": keep-alive");
      }
      await tasks.handle(taskId).complete({});
      assert.equal((await stream.task()).status, "completed");
      await ended(stream);
    }));

  it("ends in good order when the handler is closed", () =>
    withHost({}, async ({ url, tasks, handler, listeners }) => {
      const taskId = await newTask(tasks);
      const streams = [];
      for (const id of ["one", "two", 3]) {
        const stream = await listen(url, { taskIds: [taskId] }, { id });
        await acknowledged(stream);
        await stream.task();
        streams.push([stream, id] as const);
      }
      await handler.close();
      assert.equal(listeners(), 0);
      for (const [stream, id] of streams) await ended(stream, id);
    }));

  it("ends in good order when the lifecycle is closed", () =>
    withHost({}, async ({ url, tasks }) => {
      const stream = await listen(url, { taskIds: [await newTask(tasks)] });
      await acknowledged(stream);
      await stream.task();
      await tasks.close();
      await ended(stream);
    }));

  it("ends in good order when its tasks have expired", async () => {
    let now = 1_800_000_000_000;
    await withHost({
      lifecycle: { now: () => now, observeIntervalMs: 5 },
      notifications: { keepAliveMs: 12 },
    }, async ({ url, tasks }) => {
      const short = await newTask(tasks, { ttlMs: 60_000 });
      const long = await newTask(tasks, { ttlMs: 90_000 });
      const stream = await listen(url, { taskIds: [short, long] });
      await acknowledged(stream);
      await stream.task();
      await stream.task();
      now += 60_001;
      assert.match((await stream.frame())!, /^: /);
      assert.match((await stream.frame())!, /^: /);
      await tasks.handle(long).progress("alone");
      assert.equal((await stream.task()).statusMessage, "alone");
      now += 30_000;
      await ended(stream);
    });
  });

  it("is cut off when its reader falls behind", () =>
    withHost({}, async (host) => {
      const { url, tasks } = host;
      const taskId = await newTask(tasks);
      const task = tasks.handle(taskId);
      const abort = new AbortController();
      const stream = await listen(url, { taskIds: [taskId] }, {
        signal: abort.signal,
      });
      await acknowledged(stream);
      await stream.task();
      // The network takes some megabytes before anybody has to wait.
      const message = "x".repeat(4_000);
      while (host.listeners() > 0) {
        for (let i = 0; i < 50; i++) await task.progress(`${message}${i}`);
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      await task.complete({});
      // What was on its way arrives, but neither the end of the task nor of the stream.
      try {
        for (;;) {
          const next = await stream.next();
          if (!next) break;
          assert.equal(next.params.status, "working");
        }
      } finally {
        abort.abort();
      }
    }));
});

describe("withTaskNotifications()", () => {
  it("counts what a reader has not read: 256 frames", async () => {
    const host = listenHandler();
    const taskId = await newTask(host.tasks);
    const { handler } = host;
    const request = () =>
      listenRequest("http://host/mcp", { taskIds: [taskId] });
    const open = async () => {
      const stream = await readListening(await handler.fetch(request()));
      await acknowledged(stream);
      await stream.task();
      return stream;
    };
    const [fast, slow] = [await open(), await open()];
    const task = host.tasks.handle(taskId);
    for (let i = 0; i < 256; i++) {
      await task.progress(`${i}`);
      assert.equal((await fast.task()).statusMessage, `${i}`);
    }
    assert.equal(host.listeners(), 2);
    await task.progress("one more");
    assert.equal((await fast.task()).statusMessage, "one more");
    assert.equal(host.listeners(), 1);
    assert.equal(await slow.next(), undefined);
    await fast.leave();
    assert.equal(host.listeners(), 0);
    await host.handler.close();
    await host.tasks.close();
  });

  it("counts what a reader has not read: 1 MiB", async () => {
    const host = listenHandler();
    const taskId = await newTask(host.tasks);
    const slow = await readListening(
      await host.handler.fetch(
        listenRequest("http://host/mcp", { taskIds: [taskId] }),
      ),
    );
    await acknowledged(slow);
    await slow.task();
    const task = host.tasks.handle(taskId);
    // A quarter of a MiB with each change, as long as the question is open.
    const question = task.requestInput({
      q: {
        method: "elicitation/create",
        params: {
          message: "q".repeat(2 ** 18),
          requestedSchema: { type: "object", properties: {} },
        },
      },
    });
    question.catch(() => {});
    for (let i = 0; i < 3; i++) await task.progress(`${i}`);
    assert.equal(host.listeners(), 1);
    await task.progress("one more");
    await Promise.resolve();
    assert.equal(host.listeners(), 0);
    assert.equal(await slow.next(), undefined);
    await host.handler.close();
    await host.tasks.close();
  });

  it("takes a body that the host has parsed", async () => {
    const host = listenHandler();
    const taskId = await newTask(host.tasks, { owner: '["c","s"]' });
    const request = listenRequest("http://host/mcp", { taskIds: [taskId] });
    const parsedBody = JSON.parse(await request.text());
    const response = await host.handler.fetch(request, {
      parsedBody,
      authInfo: { token: "t", clientId: "c", scopes: [], extra: { sub: "s" } },
    });
    const stream = await readListening(response);
    assert.deepEqual(await acknowledged(stream), { taskIds: [taskId] });
    await stream.leave();
    await host.handler.close();
    await host.tasks.close();
  });

  it("ends for a client that went before the answer, or with its signal", async () => {
    const host = listenHandler();
    const taskIds = [await newTask(host.tasks)];
    for (const early of [true, false]) {
      const abort = new AbortController();
      const request = listenRequest("http://host/mcp", { taskIds }, {
        signal: abort.signal,
      });
      if (early) abort.abort();
      const response = await host.handler.fetch(request);
      const reader = response.body!.getReader();
      if (!early) {
        await reader.read();
        await reader.read();
        assert.equal(host.listeners(), 1);
        abort.abort();
      }
      assert.equal(host.listeners(), 0);
      assert.equal((await reader.read()).done, true);
    }
    await host.handler.close();
    await host.tasks.close();
  });

  it("leaves no listener on the signal of a request", async () => {
    const host = listenHandler();
    const taskIds = [await newTask(host.tasks)];
    for (const end of ["leave", "close"]) {
      const request = listenRequest("http://host/mcp", { taskIds });
      const { signal } = request;
      const on = new Set<unknown>();
      const { addEventListener, removeEventListener } = signal;
      Object.assign(signal, {
        addEventListener(type: string, listener: never, options: object) {
          on.add(listener);
          addEventListener.call(signal, type, listener, options);
        },
        removeEventListener(type: string, listener: never) {
          on.delete(listener);
          removeEventListener.call(signal, type, listener);
        },
      });
      Object.defineProperty(request, "signal", { value: signal });
      const stream = await readListening(await host.handler.fetch(request));
      await acknowledged(stream);
      await stream.task();
      // The SDK leaves one of its own on the signal of a stream that it has ended.
      assert.equal(on.size, 2);
      if (end === "leave") await stream.leave();
      else await host.handler.close();
      assert.equal(on.size, 1, end);
    }
    await host.tasks.close();
  });

  it("copies the body of no other request", async () => {
    const { handler, tasks } = listenHandler();
    const bare = createMcpHandler(() =>
      new McpServer({ name: "b", version: "0" })
    );
    const copies = [];
    for (const { fetch } of [bare, handler]) {
      const request = listenRequest("http://host/mcp", {}, {
        headers: { "mcp-method": "server/discover" },
      });
      let count = 0;
      request.clone = () => {
        count++;
        return Request.prototype.clone.call(request);
      };
      await (await fetch(request)).text();
      copies.push(count);
    }
    assert.equal(copies[1], copies[0]);
    await handler.close();
    await bare.close();
    await tasks.close();
  });

  it("keeps what else the handler has", async () => {
    const { handler, tasks } = listenHandler();
    assert.equal(typeof handler.notify.toolsChanged, "function");
    assert.equal(typeof handler.bus.subscribe, "function");
    await handler.close();
    await assert.rejects(handler.fetch(new Request("http://host/mcp")));
    await tasks.close();
  });

  it("has the defaults that it states", async () => {
    const { handler, tasks } = listenHandler();
    const { keepAliveMs, maxTaskIds, registry } = listenHost(tasks, {});
    assert.deepEqual([keepAliveMs, maxTaskIds], [15_000, 100]);
    for (let i = 0; i < 64; i++) registry.enter("ann");
    assert.throws(() => registry.enter("ann"), isLimitExceededError);
    registry.enter("bob");
    await handler.close();
    await tasks.close();
  });

  it("refuses options that are wrong", async () => {
    const { handler, tasks } = listenHandler();
    for (const name of ["keepAliveMs", "maxStreamsPerOwner", "maxTaskIds"]) {
      for (const value of [0, -1, 1.5, Number.NaN, "9", null]) {
        assert.throws(
          () => withTaskNotifications(handler, tasks, { [name]: value }),
          (error) =>
            isInvalidArgumentError(error) &&
            error.message.startsWith(`Cannot use ${name}: the value is `),
        );
      }
    }
    for (const name of ["owner", "onError"]) {
      assert.throws(
        () => withTaskNotifications(handler, tasks, { [name]: "ann" }),
        (error) =>
          isInvalidArgumentError(error) &&
          error.message.startsWith(`Cannot use ${name}: the value is "ann"`),
      );
    }
    assert.throws(
      () => withTaskNotifications(handler, undefined as never),
      (error) =>
        isInvalidArgumentError(error) &&
        /the lifecycle is undefined/.test(error.message),
    );
    assert.throws(
      () => withTaskNotifications(handler, tasks, { keepalive: 5 } as object),
      (error) =>
        isInvalidArgumentError(error) &&
        /no option "keepalive"; did you mean keepAliveMs\?$/
          .test(error.message),
    );
    for (const wrong of [undefined, () => {}, handler.fetch]) {
      assert.throws(
        () => withTaskNotifications(wrong as never, tasks),
        (error) =>
          isInvalidArgumentError(error) &&
          /^Cannot use handler: .* createMcpHandler\(\)/.test(error.message),
      );
      assert.throws(
        () => withStdioTaskNotifications(wrong as never, tasks),
        (error) =>
          isInvalidArgumentError(error) &&
          /^Cannot use transport: .* serveStdio\(\)/.test(error.message),
      );
    }
    await handler.close();
    await tasks.close();
  });
});
