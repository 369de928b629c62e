/** What happens to tasks, as OpenTelemetry sees it: a counter for each kind of event, a span for each error. */
import { metrics, SpanStatusCode, trace } from "@opentelemetry/api";
import type { TaskEvent, TaskLifecycleOptions } from "@mcp-durable/tasks";

/** The name of the instruments' scope. */
const SCOPE = "@mcp-durable/tasks";

/** What an event counts: one, or as many tasks as it is about. */
const amountOf = (event: TaskEvent) =>
  event.type === "sweep" ? event.deleted : 1;

/**
 * Makes an `onEvent` that sends to the providers which the program has registered with
 * `@opentelemetry/api`; without any it does nothing.
 */
export function taskTelemetry(): NonNullable<TaskLifecycleOptions["onEvent"]> {
  const tracer = trace.getTracer(SCOPE);
  const events = metrics.getMeter(SCOPE).createCounter("mcp.tasks.events", {
    description: "What happened to tasks that an operator may want to know",
  });
  return (event) => {
    // A task's id opens the task for whoever has it: it is in no attribute of a metric.
    events.add(amountOf(event), {
      "mcp.tasks.event": event.type,
      ...("outcome" in event && { "mcp.tasks.outcome": event.outcome }),
      ...("operation" in event && { "mcp.tasks.operation": event.operation }),
    });
    if (!("error" in event)) return;
    const { error } = event;
    const span = tracer.startSpan(`mcp.tasks ${event.type}`);
    span.recordException(error instanceof Error ? error : String(error));
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  };
}
