import assert from "node:assert/strict";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { openTaskClient } from "../../examples/crash_recovery/client.ts";
import { ANONYMOUS_OWNER, ownerOf } from "../../mcp.ts";
import { send } from "../support/mcp_frames.ts";
import { startHost } from "../support/mcp_host.ts";
import { registerTools } from "../support/mcp_tools.ts";
import { describe, it } from "../support/runner.ts";

const UNKNOWN = "00000000-0000-4000-8000-000000000000";

const REQUESTS = [
  ["tasks/get", {}],
  ["tasks/update", { inputResponses: { a: { action: "decline" } } }],
  ["tasks/cancel", {}],
] as const;

/** Callers: two of one program, one of another, one that is not authenticated. */
const CALLERS = ["app/ann", "app/bob", "other/ann", "app", undefined];

const wait = {
  tools: ({ registerTool }: Parameters<
    NonNullable<Parameters<typeof startHost>[0]>["tools"] & object
  >[0]) =>
    registerTool("wait", {}, async (_args, task) => {
      await new Promise((resolve) =>
        task.signal.addEventListener("abort", resolve)
      );
    }),
};

describe("a task of somebody else", () => {
  it("is answered byte for byte like an unknown id", async () => {
    const host = await startHost(wait);
    for (const owner of CALLERS) {
      const { result } = await send(host.url, "tools/call", {
        name: "wait",
        arguments: {},
      }, { token: owner });
      const { taskId } = result;
      for (const caller of CALLERS) {
        for (const [method, params] of REQUESTS) {
          const real = await send(host.url, method, { ...params, taskId }, {
            token: caller,
          });
          if (caller === owner) {
            assert.equal(real.result.resultType, "complete");
            continue;
          }
          const unknown = await send(host.url, method, {
            ...params,
            taskId: UNKNOWN,
          }, { token: caller });
          assert.equal(real.error?.code, -32602);
          assert.equal(real.status, unknown.status);
          assert.equal(real.body, unknown.body.replaceAll(UNKNOWN, taskId));
        }
      }
    }
    await host.close();
  });

  it("is answered like one that has expired, to its owner too", async () => {
    let now = 1_000_000;
    const host = await startHost({
      ...wait,
      lifecycle: { now: () => now, defaultTtlMs: 700 },
    });
    const { result } = await send(host.url, "tools/call", {
      name: "wait",
      arguments: {},
    }, { token: "app/ann" });
    const { taskId } = result;
    now += 700;
    for (const [method, params] of REQUESTS) {
      const bodies = [];
      for (const token of ["app/ann", "app/bob"]) {
        for (const id of [taskId, UNKNOWN]) {
          const { body } = await send(
            host.url,
            method,
            { ...params, taskId: id },
            { token },
          );
          bodies.push(body.replaceAll(UNKNOWN, taskId));
        }
      }
      assert.match(bodies[0], /-32602/);
      assert.equal(new Set(bodies).size, 1, method);
    }
    await host.close();
  });

  it("is what a task without an owner is, for everybody who has one", async () => {
    const host = await startHost();
    const { taskId } = await host.tasks.createTask();
    for (const token of CALLERS) {
      const { error } = await send(host.url, "tasks/get", { taskId }, {
        token,
      });
      assert.equal(error?.code, -32602);
    }
    await host.close();
  });
});

describe("a new session of the same principal", () => {
  it("finds its tasks, and nobody else's does", async () => {
    const host = await startHost({ tools: registerTools });
    const open = (token?: string) =>
      openTaskClient(
        new StreamableHTTPClientTransport(host.url, {
          requestInit: {
            headers: token === undefined
              ? {}
              : { authorization: `Bearer ${token}` },
          },
        }),
        { endpointId: "owners" },
      );
    const first = await open("app/ann");
    const execution = await first.session.callTool("until_cancelled");
    assert.equal(execution.kind, "task");
    const reference = execution.serializeReference();
    await execution.detach();
    await first.close();

    for (const token of ["app/bob", undefined]) {
      const other = await open(token);
      await assert.rejects(other.session.task(reference.taskId).snapshot());
      await other.close();
    }
    const again = await open("app/ann");
    const resumed = await again.session.resumeTask(reference);
    await again.session.cancelTask(reference.taskId);
    const { outcome } = await resumed.settle();
    assert.equal(outcome.status, "cancelled");
    await again.close();
    await host.close();
  });

  it("is somebody else once it is authenticated", async () => {
    const host = await startHost(wait);
    const call = { name: "wait", arguments: {} };
    const { taskId } = (await send(host.url, "tools/call", call)).result;
    const get = (token?: string) =>
      send(host.url, "tasks/get", { taskId }, { token });
    assert.equal((await get()).result.status, "working");
    assert.equal((await get("anonymous")).error?.code, -32602);
    await host.close();
  });
});

describe("AttachTasksOptions.owner", () => {
  it("replaces the rule", async () => {
    const host = await startHost({
      ...wait,
      attach: { owner: (ctx) => ctx.http?.authInfo?.clientId },
    });
    const call = { name: "wait", arguments: {} };
    const mine = await send(host.url, "tools/call", call, { token: "app/ann" });
    const { taskId } = mine.result;
    const get = (token?: string) =>
      send(host.url, "tasks/get", { taskId }, { token });
    assert.equal((await get("app/bob")).result.status, "working");
    assert.equal((await get("other/ann")).error?.code, -32602);

    const nobodys = await host.tasks.createTask();
    const { result } = await send(host.url, "tasks/get", {
      taskId: nobodys.taskId,
    });
    assert.equal(result.status, "working");
    await host.close();
  });
});

describe("ownerOf()", () => {
  const mcpReq = { id: 1, method: "tasks/get" } as never;

  it("tells a program with a person from one without", () => {
    const of = (clientId: string, sub?: unknown) =>
      ownerOf({
        mcpReq,
        http: {
          authInfo: { clientId, extra: sub === undefined ? {} : { sub } },
        },
      });
    assert.equal(of("app", "ann"), '["app","ann"]');
    assert.equal(of("app"), '["app",null]');
    assert.notEqual(of('app","ann', undefined), of("app", "ann"));
    assert.equal(ownerOf({ mcpReq }), ANONYMOUS_OWNER);
    assert.equal(ownerOf({ mcpReq, http: {} }), ANONYMOUS_OWNER);
  });
});
