/**
 * `subscriptions/listen` with `taskIds`, over HTTP. The SDK checks the request
 * and answers it, but knows nothing of tasks: its answer is completed here.
 */
import {
  type AuthInfo,
  type McpHttpHandler,
  SUBSCRIPTION_ID_META_KEY,
} from "@modelcontextprotocol/server";
import {
  isTaskNotFoundError,
  isTerminalStatus,
  type TaskLifecycle,
} from "@mcp-durable/tasks";
import { declares, missingTasks, principal } from "./gate.ts";

/** How often a silent stream says that it is still there. */
const KEEP_ALIVE_MS = 15_000;

interface ListenRequest {
  readonly id: string | number;
  readonly params: {
    readonly notifications?: { readonly taskIds?: unknown };
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
}

/** Adds tasks to what can be listened to. */
export function withTaskPushes(
  handler: McpHttpHandler,
  tasks: TaskLifecycle,
): McpHttpHandler {
  return {
    ...handler,
    async fetch(request, options) {
      const listens =
        request.headers.get("mcp-method") === "subscriptions/listen";
      const copy = listens ? request.clone() : undefined;
      const response = await handler.fetch(request, options);
      const type = response.headers.get("content-type");
      if (!copy || !type?.startsWith("text/event-stream")) return response;
      const listen = await copy.json() as ListenRequest;
      const { taskIds } = listen.params.notifications ?? {};
      if (!Array.isArray(taskIds) || taskIds.length === 0) return response;
      // This example listens to tasks, or to what the SDK knows, not to both.
      await response.body?.cancel();
      if (!declares(listen.params._meta)) return refusal(listen);
      return await push(tasks, listen, taskIds, options?.authInfo);
    },
  };
}

function refusal({ id }: ListenRequest): Response {
  const { code, message, data } = missingTasks();
  return Response.json(
    { jsonrpc: "2.0", id, error: { code, message, data } },
    { status: 400 },
  );
}

/** Streams the tasks of a principal: the acknowledgement, then each task as it is, then as it changes. */
async function push(
  tasks: TaskLifecycle,
  { id }: ListenRequest,
  asked: readonly unknown[],
  authInfo: AuthInfo | undefined,
): Promise<Response> {
  const owner = principal(authInfo);
  const _meta = { [SUBSCRIPTION_ID_META_KEY]: id };
  const open = new Set<string>();
  for (const taskId of new Set(asked)) {
    // An id of somebody else is left out like one that nobody has.
    const task = typeof taskId === "string" &&
      await tasks.getTask(taskId, { owner }).catch(() => undefined);
    if (task) open.add(task.taskId);
  }

  const stops: (() => void)[] = [];
  const stop = () => stops.splice(0).forEach((one) => one());
  const body = new ReadableStream<string>({
    start(stream) {
      const write = (message: object) =>
        stream.enqueue(
          `event: message\ndata: ${
            JSON.stringify({ jsonrpc: "2.0", ...message })
          }\n\n`,
        );
      const end = () => {
        stop();
        write({ id, result: { resultType: "complete", _meta } });
        stream.close();
      };
      write({
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: { taskIds: [...open] }, _meta },
      });
      if (open.size === 0) return end();

      const timer = setInterval(
        () => stream.enqueue(": keep-alive\n\n"),
        KEEP_ALIVE_MS,
      );
      stops.push(() => clearInterval(timer));
      for (const taskId of open) {
        // Each look shows the task as it is then, so what is sent never goes back.
        let looking = Promise.resolve();
        const look = () => {
          looking = looking.then(async () => {
            if (!open.has(taskId)) return;
            const { resultType: _, ...task } = await tasks.getTask(taskId, {
              owner,
            });
            if (stops.length === 0) return; // The client has gone meanwhile.
            write({
              method: "notifications/tasks",
              params: { ...task, _meta },
            });
            if (isTerminalStatus(task.status)) open.delete(taskId);
            if (open.size === 0) end();
          }).catch((error) => {
            if (stops.length === 0) return;
            if (!isTaskNotFoundError(error)) {
              stop();
              return stream.error(error);
            }
            open.delete(taskId); // It has expired.
            if (open.size === 0) end();
          });
        };
        stops.push(tasks.onTaskChanged(taskId, look, { onEnd: look }));
        look();
      }
    },
    cancel: stop,
  });
  return new Response(body.pipeThrough(new TextEncoderStream()), {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
    },
  });
}
