import assert from "node:assert/strict";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  type Attributes,
  type Counter,
  type Meter,
  metrics,
  type Span,
  type SpanStatus,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { taskTelemetry } from "../../examples/opentelemetry/telemetry.ts";
import { MemoryTaskStore, TaskLifecycle } from "../../mod.ts";
import {
  freePort,
  makeExampleProject,
  whileServing,
} from "../support/example_project.ts";
import { describe, it } from "../support/runner.ts";
import { assertSaysHello } from "../support/say_hello.ts";

/** What was sent, by providers that keep it. */
interface Sent {
  readonly counted: [name: string, amount: number, attributes?: Attributes][];
  readonly spans: {
    readonly name: string;
    exception?: unknown;
    code?: number;
    ended: boolean;
  }[];
}

/** Registers the providers while a body runs. */
async function collect(body: () => Promise<void>): Promise<Sent> {
  const sent: Sent = { counted: [], spans: [] };
  const meter = {
    createCounter: (name: string) => ({
      add: (amount, attributes) =>
        void sent.counted.push([name, amount, attributes]),
    } as Counter),
  } as Meter;
  const tracer = {
    startSpan(name) {
      const span: Sent["spans"][number] = { name, ended: false };
      sent.spans.push(span);
      const kept: Pick<Span, "recordException" | "end"> & {
        setStatus(status: SpanStatus): void;
      } = {
        recordException: (exception) => void (span.exception = exception),
        setStatus: ({ code }) => void (span.code = code),
        end: () => void (span.ended = true),
      };
      return kept as Span;
    },
  } as Tracer;
  metrics.setGlobalMeterProvider({ getMeter: () => meter });
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  try {
    await body();
  } finally {
    metrics.disable();
    trace.disable();
  }
  return sent;
}

describe("examples/opentelemetry", () => {
  it("counts events by their kind, and records errors", async () => {
    const broken = new Error("no paper");
    const sent = await collect(async () => {
      const tasks = new TaskLifecycle({
        store: new MemoryTaskStore(),
        sweepIntervalMs: null,
        onEvent: taskTelemetry(),
      });
      const { taskId } = await tasks.createTask({ owner: "ada" });
      await tasks.run(taskId, () => Promise.reject(broken));
      await tasks.close();
    });
    assert.deepEqual(sent.counted, [["mcp.tasks.events", 1, {
      "mcp.tasks.event": "worker_error",
      "mcp.tasks.outcome": "completed",
    }]]);
    assert.deepEqual(sent.spans, [{
      name: "mcp.tasks worker_error",
      exception: broken,
      code: 2,
      ended: true,
    }]);
  });

  it("counts the tasks of a sweep, and what is no Error as text", async () => {
    const sent = await collect(() => {
      const onEvent = taskTelemetry();
      onEvent({ type: "sweep", deleted: 17 });
      onEvent({ type: "error", operation: "sweep", error: "EIO" });
      return Promise.resolve();
    });
    assert.deepEqual(sent.counted.map(([, amount]) => amount), [17, 1]);
    assert.deepEqual(sent.spans.map(({ exception }) => exception), ["EIO"]);
  });

  it("does nothing where nobody listens", () => {
    taskTelemetry()({ type: "sweep", deleted: 3 });
  });

  it("serves hello", async () => {
    const port = await freePort();
    const project = await makeExampleProject("opentelemetry", { port });
    try {
      const url = new URL(`http://127.0.0.1:${port}/mcp`);
      await whileServing(
        project,
        url,
        () => assertSaysHello(new StreamableHTTPClientTransport(url)),
      );
    } finally {
      await project.remove();
    }
  });
});
