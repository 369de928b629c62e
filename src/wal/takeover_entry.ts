/**
 * The entries that mcp-durable-tasks wrote through process-wal: a line is
 * `{"seq":N,"value":{"t":"put","record":{…}}}` or
 * `{"seq":N,"value":{"t":"del","taskId":"…"}}`. There are no checksums; what
 * can be seen of damage is a line that is no JSON, no UTF-8, or no such entry.
 */

import type { TaskRecord } from "../model/record.ts";
import { toProcessLogValue } from "./process_log.ts";

/** What a line holds. */
export type ForeignEntry =
  | {
    /** The task. */
    readonly taskId: string;
    /** Its sequence number. */
    readonly seq: number;
    /** The whole record; absent: it is deleted. */
    readonly record?: TaskRecord;
  }
  | {
    /** What is wrong with the line. */
    readonly problem: string;
    /** Whether it is an entry of process-wal, but of another program than mcp-durable-tasks. */
    readonly alien: boolean;
  };

/** Decodes lines. */
export class ForeignDecoder {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });

  /**
   * Decodes a line.
   *
   * @param body Its bytes without the newline; absent: it is too long.
   * @returns What it holds; `undefined` if it is empty.
   */
  decode(body: Uint8Array | undefined): ForeignEntry | undefined {
    if (!body) return damage("a line is longer than 256 MiB");
    if (body.length === 0) return undefined;
    let line: { readonly seq?: unknown; readonly value?: unknown } | null;
    try {
      line = JSON.parse(this.#decoder.decode(body));
    } catch {
      return damage("a line is no JSON");
    }
    const { seq, value } = line ?? {};
    if (!Number.isSafeInteger(seq) || (seq as number) < 1) {
      return damage("a line has no sequence number");
    }
    const entry = toProcessLogValue(value);
    if (!entry) {
      const { t } = (value ?? {}) as { readonly t?: unknown };
      return {
        problem: "a line holds neither a record nor a deletion",
        alien: t !== "put" && t !== "del",
      };
    }
    return entry.t === "put"
      ? {
        taskId: entry.record.taskId,
        seq: seq as number,
        record: entry.record,
      }
      : { taskId: entry.taskId, seq: seq as number };
  }
}

function damage(problem: string): ForeignEntry {
  return { problem, alien: false };
}
