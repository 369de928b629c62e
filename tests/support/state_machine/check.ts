/** How many scripts are run, from which seed, and what a failure says. */

import fc from "../fast_check.ts";
import { turn } from "./virtual_time.ts";

interface ProcessLike {
  readonly env?: Readonly<Record<string, string | undefined>>;
  on?(event: string, listener: (reason: unknown) => void): unknown;
  off?(event: string, listener: (reason: unknown) => void): unknown;
}

const process = () => (globalThis as { process?: ProcessLike }).process;

function setting(name: string): number | undefined {
  const text = process()?.env?.[name];
  return text ? Number(text) : undefined;
}

/**
 * Runs a property on many values, `FC_RUNS` or a number of its own, from the
 * seed `FC_SEED`, if that is set. What fails names the seed and the smallest
 * value that fails.
 */
export async function checkScripts<Script>(
  arbitrary: fc.Arbitrary<Script>,
  run: (script: Script) => Promise<void>,
  numRuns: number,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(arbitrary, async (script) => {
      const unhandled = watchUnhandled();
      try {
        await run(script);
        await turn();
      } finally {
        unhandled.end();
      }
      if (unhandled.reasons.length > 0) {
        throw new Error("a rejection was not handled", {
          cause: unhandled.reasons[0],
        });
      }
    }),
    { numRuns: setting("FC_RUNS") ?? numRuns },
  );
}

/** Notes rejections that nobody handles, so that they fail the run that they belong to. */
function watchUnhandled(): { reasons: unknown[]; end(): void } {
  const reasons: unknown[] = [];
  const onReason = (reason: unknown) => void reasons.push(reason);
  const onEvent = (event: Event) => {
    event.preventDefault();
    onReason((event as unknown as { reason: unknown }).reason);
  };
  const events = globalThis as unknown as Partial<EventTarget>;
  const host = process();
  const byProcess = !("Deno" in globalThis) && host?.on && host.off;
  if (byProcess) host.on!("unhandledRejection", onReason);
  else {events.addEventListener?.(
      "unhandledrejection",
      onEvent as EventListener,
    );}
  return {
    reasons,
    end() {
      if (byProcess) host.off!("unhandledRejection", onReason);
      else {
        events.removeEventListener?.(
          "unhandledrejection",
          onEvent as EventListener,
        );
      }
    },
  };
}
