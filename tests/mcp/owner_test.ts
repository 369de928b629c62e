import assert from "node:assert/strict";
import { ANONYMOUS_OWNER, ownerOf } from "../../mcp.ts";
import { send } from "../support/mcp_frames.ts";
import { startHost } from "../support/mcp_host.ts";
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
