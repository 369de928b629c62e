import assert from "node:assert/strict";
import { ANONYMOUS_OWNER } from "../../mcp.ts";
import type { TaskRecord } from "../../mod.ts";
import { SUBSCRIPTION_ID_KEY } from "../../src/mcp/protocol.ts";
import {
  connectStdio,
  type StdioConnection,
} from "../support/mcp_listen_stdio.ts";
import { describe, it } from "../support/runner.ts";
import { PlainStore } from "../support/plain_store.ts";

const SERVER_INFO = {
  "io.modelcontextprotocol/serverInfo": {
    name: "listen-stdio",
    version: "2.1.0",
  },
};

/** A store that holds a read where somebody waits for one. */
class HeldStore extends PlainStore {
  held: { started(): void; readonly until: Promise<void> } | undefined;
  override async get(
    taskId: string,
    now?: number,
  ): Promise<TaskRecord | undefined> {
    const record = await super.get(taskId, now);
    this.held?.started();
    await this.held?.until;
    return record;
  }
}

async function withConnection(
  options: Parameters<typeof connectStdio>[0],
  body: (connection: StdioConnection) => Promise<void>,
): Promise<void> {
  const connection = connectStdio(options);
  await body(connection);
  assert.deepEqual(connection.errors, []);
  await connection.end();
  assert.equal(connection.listeners(), 0);
}

async function newTask({ tasks }: StdioConnection, owner = ANONYMOUS_OWNER) {
  return (await tasks.createTask({ owner })).taskId;
}

/** Reads an acknowledgement. */
async function acknowledged(connection: StdioConnection): Promise<object> {
  const { method, params } = await connection.next();
  assert.equal(method, "notifications/subscriptions/acknowledged");
  return params.notifications;
}

/** Reads a task's notification. */
async function told(connection: StdioConnection) {
  const { method, params } = await connection.next();
  assert.equal(method, "notifications/tasks");
  return params;
}

const end = (id: number | string, meta = {}) => ({
  jsonrpc: "2.0",
  id,
  result: {
    resultType: "complete",
    _meta: { [SUBSCRIPTION_ID_KEY]: id, ...meta },
  },
});

/** Shows that the connection still answers, and that nothing came before. */
async function nothingElse(connection: StdioConnection, id: string) {
  connection.request(id, "server/discover", {});
  assert.equal((await connection.next()).id, id);
}

describe("subscriptions/listen with taskIds over stdio", () => {
  it("acknowledges, shows the task, tells of every change, and ends with it", () =>
    withConnection({}, async (connection) => {
      const { tasks } = connection;
      const taskId = await newTask(connection);
      const unknown = "00000000-0000-4000-8000-000000000000";
      const foreign = await newTask(connection, "somebody");
      connection.listen("a", { taskIds: [unknown, taskId, foreign, taskId] });
      assert.deepEqual(await acknowledged(connection), { taskIds: [taskId] });
      const first = await told(connection);
      connection.request(2, "tasks/get", { taskId });
      const { _meta: _, resultType, ...shown } =
        (await connection.next()).result;
      assert.equal(resultType, "complete");
      const { _meta: __, ...task } = first;
      assert.deepEqual(task, shown);
      for (let i = 0; i < 5; i++) {
        await tasks.handle(taskId).progress(`${i}`);
        assert.equal((await told(connection)).statusMessage, `${i}`);
      }
      await tasks.handle(taskId).complete({ structuredContent: 4 });
      assert.deepEqual((await told(connection)).result, {
        resultType: "complete",
        structuredContent: 4,
        content: [{ type: "text", text: "4" }],
      });
      assert.deepEqual(await connection.next(), end("a"));
      await nothingElse(connection, "b");
    }));

  it("keeps subscriptions apart, and stops the one that is cancelled", () =>
    withConnection({}, async (connection) => {
      const { tasks } = connection;
      const [x, y] = [await newTask(connection), await newTask(connection)];
      connection.listen(1, { taskIds: [x] });
      await acknowledged(connection);
      await told(connection);
      connection.listen("1", { taskIds: [y, x] });
      assert.deepEqual(await acknowledged(connection), { taskIds: [y, x] });
      await told(connection);
      await told(connection);
      await tasks.handle(y).progress("for one");
      const { params } = await connection.next();
      assert.equal(params._meta[SUBSCRIPTION_ID_KEY], "1");
      await tasks.handle(x).progress("for both");
      const both = [await told(connection), await told(connection)];
      assert.deepEqual(both.map((p) => p._meta[SUBSCRIPTION_ID_KEY]), [1, "1"]);
      connection.cancel(1);
      await nothingElse(connection, "discover");
      assert.equal(connection.listeners(), 2);
      await tasks.handle(x).progress("for the other");
      assert.equal((await told(connection))._meta[SUBSCRIPTION_ID_KEY], "1");
      connection.cancel("1");
      await nothingElse(connection, "discover again");
      assert.equal(connection.listeners(), 0);
      await tasks.handle(x).progress("for nobody");
      await nothingElse(connection, "last");
    }));

  it("tells of the SDK's notifications too, and ends with the connection", () =>
    withConnection({}, async (connection) => {
      const { tasks } = connection;
      const taskId = await newTask(connection);
      connection.listen(9, { toolsListChanged: true, taskIds: [taskId] });
      assert.deepEqual(await acknowledged(connection), {
        toolsListChanged: true,
        taskIds: [taskId],
      });
      await told(connection);
      connection.server().sendToolListChanged();
      const { method } = await connection.next();
      assert.equal(method, "notifications/tools/list_changed");
      await tasks.handle(taskId).complete({});
      assert.equal((await told(connection)).status, "completed");
      connection.server().sendToolListChanged();
      assert.equal((await connection.next()).method, method);
      const closed = connection.close();
      assert.deepEqual(await connection.next(), end(9, SERVER_INFO));
      await closed;
    }));

  it("ends with the SDK's result when the server is closed", () =>
    withConnection({}, async (connection) => {
      connection.listen(9, { taskIds: [await newTask(connection)] });
      await acknowledged(connection);
      await told(connection);
      const closed = connection.close();
      assert.deepEqual(await connection.next(), end(9, SERVER_INFO));
      await closed;
    }));

  it("leaves nothing behind when the client hangs up", () =>
    withConnection({}, async (connection) => {
      connection.listen(9, { taskIds: [await newTask(connection)] });
      await acknowledged(connection);
      await told(connection);
      assert.equal(connection.listeners(), 1);
      connection.hangUp();
      while (connection.listeners() > 0) {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }));

  it("leaves nothing behind after 1,000 subscriptions", () =>
    withConnection({}, async (connection) => {
      const taskIds = [await newTask(connection)];
      for (let id = 0; id < 1_000; id++) {
        connection.listen(id, { taskIds });
        await acknowledged(connection);
        await told(connection);
        connection.cancel(id);
      }
      await nothingElse(connection, "last");
      assert.equal(connection.listeners(), 0);
    }));

  it("frees its place in the SDK too", () =>
    withConnection({}, async (connection) => {
      const taskId = await newTask(connection);
      await connection.tasks.handle(taskId).complete({});
      for (let id = 0; id < 1_100; id++) {
        connection.listen(id, { taskIds: id % 2 ? [taskId] : 7 });
        if (id % 2 === 0) {
          assert.equal((await connection.next()).error.code, -32_602);
          continue;
        }
        await acknowledged(connection);
        await told(connection);
        assert.deepEqual(await connection.next(), end(id));
      }
    }));

  it("ends when the lifecycle is closed", () =>
    withConnection({}, async (connection) => {
      connection.listen(9, { taskIds: [await newTask(connection)] });
      await acknowledged(connection);
      await told(connection);
      await connection.tasks.close();
      assert.deepEqual(await connection.next(), end(9));
    }));

  it("refuses what it refuses over HTTP", () =>
    withConnection(
      { maxTaskIds: 2, maxStreamsPerOwner: 1 },
      async (connection) => {
        const taskId = await newTask(connection);
        connection.listen(1, { taskIds: [taskId] }, {});
        const { id, error } = await connection.next();
        assert.equal(id, 1);
        assert.equal(error.code, -32_021);
        assert.deepEqual(error.data, {
          requiredCapabilities: {
            extensions: { "io.modelcontextprotocol/tasks": {} },
          },
        });
        for (const taskIds of [null, "x", [taskId, 3], ["a", "b", "c"]]) {
          connection.listen("wrong", { taskIds });
          const { id, error } = await connection.next();
          assert.equal(id, "wrong");
          assert.equal(error.code, -32_602);
        }
        connection.listen(2, { taskIds: [taskId] });
        await acknowledged(connection);
        await told(connection);
        connection.listen(3, { taskIds: [taskId] });
        const refused = await connection.next();
        assert.equal(refused.id, 3);
        assert.deepEqual(refused.error.data, {
          code: "ERR_LIMIT_EXCEEDED",
          limit: "maxStreamsPerOwner",
          maximum: 1,
        });
        await nothingElse(connection, "between");
        // A refused request is none of the SDK's subscriptions either.
        const closed = connection.close();
        assert.deepEqual(await connection.next(), end(2, SERVER_INFO));
        await closed;
        assert.equal(connection.listeners(), 0);
      },
    ));

  it("lets the SDK check first", () =>
    withConnection({}, async (connection) => {
      const taskIds = [await newTask(connection)];
      connection.listen(1, { taskIds, toolsListChanged: 7 });
      assert.equal((await connection.next()).error.code, -32_602);
      // Nothing of the refused request is left under its id.
      connection.listen(1, {});
      assert.deepEqual(await acknowledged(connection), {});
      await nothingElse(connection, "last");
    }));

  it("is unknown to a client of revision 2025-11-25", () =>
    withConnection({}, async (connection) => {
      const taskIds = [await newTask(connection)];
      connection.write({
        jsonrpc: "2.0",
        id: 1,
        method: "subscriptions/listen",
        params: { notifications: { taskIds }, _meta: {} },
      });
      const { id, error } = await connection.next();
      assert.deepEqual([id, error.code], [1, -32_601]);
    }));

  it("says with notifications/cancelled that a client has fallen behind", () =>
    withConnection({}, async (connection) => {
      const taskId = await newTask(connection);
      const task = connection.tasks.handle(taskId);
      connection.listen("slow", { taskIds: [taskId] });
      await acknowledged(connection);
      await told(connection);
      let written = 0;
      while (connection.listeners() > 0) await task.progress(`${written++}`);
      assert.ok(written > 256 && written < 300, `${written}`);
      let read = 0;
      for (;;) {
        const { method, params } = await connection.next();
        if (method === "notifications/cancelled") {
          assert.deepEqual(params, {
            requestId: "slow",
            reason: "the client does not read fast enough",
          });
          break;
        }
        assert.equal(params.statusMessage, `${read++}`);
      }
      assert.ok(read < 40, `${read}`);
      await task.complete({});
      await nothingElse(connection, "still here");
      connection.listen("again", { taskIds: [taskId] });
      await acknowledged(connection);
      assert.equal((await told(connection)).status, "completed");
      assert.deepEqual(await connection.next(), end("again"));
    }));

  it("is not answered when it is cancelled while its tasks are looked up", async () => {
    const store = new HeldStore();
    const connection = connectStdio({ maxStreamsPerOwner: 1 }, store);
    const taskIds = [await newTask(connection)];
    const ends = [
      (gate: PromiseWithResolvers<void>) => gate.resolve(),
      (gate: PromiseWithResolvers<void>) => gate.reject(new Error("no disk")),
    ];
    for (const end of ends) {
      const started = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      store.held = { started: started.resolve, until: gate.promise };
      connection.listen(1, { taskIds });
      await started.promise;
      store.held = undefined;
      connection.cancel(1);
      // The transport reads the message some time after it was written.
      await new Promise((resolve) => setTimeout(resolve, 20));
      end(gate);
      await nothingElse(connection, "between");
    }
    assert.equal(connection.errors.length, 1);
    connection.listen(2, { taskIds });
    assert.deepEqual(await acknowledged(connection), { taskIds });
    await told(connection);
    await connection.end();
    assert.equal(connection.listeners(), 0);
  });

  it("acknowledges before it tells of anything", async () => {
    const store = new HeldStore();
    const connection = connectStdio({}, store);
    const taskIds = [await newTask(connection)];
    const started = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    store.held = { started: started.resolve, until: gate.promise };
    connection.listen(1, { toolsListChanged: true, taskIds });
    await started.promise;
    store.held = undefined;
    connection.server().sendToolListChanged();
    gate.resolve();
    assert.deepEqual(await acknowledged(connection), {
      toolsListChanged: true,
      taskIds,
    });
    const methods = [await connection.next(), await connection.next()]
      .map(({ method }) => method).sort();
    assert.deepEqual(methods, [
      "notifications/tasks",
      "notifications/tools/list_changed",
    ]);
    await connection.end();
  });

  it("is not ended a second time when the server is closed", () =>
    withConnection({}, async (connection) => {
      const [x, y] = [await newTask(connection), await newTask(connection)];
      connection.listen("ended", { taskIds: [x] });
      await acknowledged(connection);
      await told(connection);
      await connection.tasks.handle(x).complete({});
      await told(connection);
      assert.deepEqual(await connection.next(), end("ended"));

      connection.listen("slow", { taskIds: [y] });
      await acknowledged(connection);
      await told(connection);
      let written = 0;
      while (connection.listeners() > 0) {
        await connection.tasks.handle(y).progress(`${written++}`);
      }
      while ((await connection.next()).method === "notifications/tasks");

      connection.listen("open", { taskIds: [y] });
      await acknowledged(connection);
      await told(connection);
      const closed = connection.close();
      assert.deepEqual(await connection.next(), end("open", SERVER_INFO));
      await closed;
    }));

  it("says nothing after its end, however slowly the client reads", () =>
    withConnection({}, async (connection) => {
      const taskIds = [await newTask(connection)];
      for (const id of [1, 2]) {
        connection.listen(id, { taskIds });
        await acknowledged(connection);
        await told(connection);
      }
      const closed = connection.close();
      await new Promise((resolve) => setTimeout(resolve, 20));
      await connection.tasks.handle(taskIds[0]).progress("late");
      assert.deepEqual(await connection.next(), end(1, SERVER_INFO));
      assert.equal((await told(connection))._meta[SUBSCRIPTION_ID_KEY], 2);
      assert.deepEqual(await connection.next(), end(2, SERVER_INFO));
      await closed;
    }));

  it("replaces a subscription whose id is used again", () =>
    withConnection({}, async (connection) => {
      const [x, y] = [await newTask(connection), await newTask(connection)];
      connection.listen(1, { taskIds: [x] });
      await acknowledged(connection);
      await told(connection);
      connection.listen(1, { taskIds: [y] });
      await acknowledged(connection);
      assert.equal((await told(connection)).taskId, y);
      await connection.tasks.handle(x).progress("for nobody");
      await nothingElse(connection, "last");
      assert.equal(connection.listeners(), 1);
    }));
});
