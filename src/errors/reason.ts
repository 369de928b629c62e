/** Why something failed, in one line. */

import { cut, show } from "./show.ts";
import { TASK_ERRORS } from "./table.ts";

/** How far a chain of causes is told. */
const MAX_CAUSES = 4;

/** Code units that are told of each. */
const MAX_REASON_LENGTH = 400;

/**
 * Says why: a log shows the message of an error, and seldom its cause. An error
 * of this library has told of its own cause already.
 *
 * @param cause What was thrown, whatever it is.
 * @returns Its message and those of its causes, with the codes that they lack.
 */
export function reasonOf(cause: unknown): string {
  const reasons: string[] = [];
  let current = cause;
  for (let depth = 0; depth < MAX_CAUSES && current !== undefined; depth++) {
    try {
      const { reason, next } = readCause(current);
      if (!reasons.some((said) => said.includes(reason))) reasons.push(reason);
      current = next;
    } catch {
      break; // A proxy or a getter may throw in its turn.
    }
  }
  return reasons.join(": ") || "an unknown error";
}

function readCause(
  cause: unknown,
): { readonly reason: string; readonly next?: unknown } {
  if (!(cause instanceof Error)) {
    return {
      reason: typeof cause === "string"
        ? cut(cause, MAX_REASON_LENGTH)
        : show(cause),
    };
  }
  const { name, message, cause: next } = cause;
  const { code } = cause as { readonly code?: unknown };
  if (typeof code === "string" && Object.hasOwn(TASK_ERRORS, code)) {
    return { reason: cut(message, MAX_REASON_LENGTH) };
  }
  const label = typeof code === "string" ? code : name;
  const text = cut(message, MAX_REASON_LENGTH);
  if (text === "") return { reason: label, next };
  const isLabelled = label === "Error" || text.includes(label);
  return { reason: isLabelled ? text : `${label}: ${text}`, next };
}
