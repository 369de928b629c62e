/** What a takeover needs of the store that takes over. */

import type { TaskRecord } from "../model/record.ts";

/** One step of a takeover. It is taken if the task is still as it was found. */
export interface ForeignChange {
  /** The task. */
  readonly taskId: string;
  /** The version that a writer has to find; absent: the task has to be absent. */
  readonly expected?: number;
  /** What the task becomes, with its version; absent: it is deleted. */
  readonly record?: TaskRecord;
  /** Why neither this record nor an older one may be served: a later one may be lost. */
  readonly doubt?: ForeignDamage;
}

/** A line that cannot be read, or is out of order. */
export interface ForeignDamage {
  /** The file. */
  readonly file: string;
  /** Where in the file the line is, in bytes. */
  readonly offset: number;
  /** How long it is, in bytes. */
  readonly bytes: number;
  /** What is wrong with it. */
  readonly reason: string;
}

/** The store that takes over. */
export interface TakeoverTarget {
  /**
   * Says which version readers see.
   *
   * @param taskId The task.
   * @returns The version; `undefined` if there is no such task, expired or not;
   * NaN if the task is damaged.
   */
  version(taskId: string): number | undefined;
  /**
   * Reads what readers see, expired or not.
   *
   * @param taskId The task.
   * @returns The record; `undefined` if it is not there, or is damaged.
   */
  read(taskId: string): TaskRecord | undefined;
  /**
   * Makes changes, in order, each judged by what was appended before it. When
   * it resolves, everything that was appended before is settled, and what was
   * taken is on the disk itself. It rejects if that failed: then any part of
   * the changes may be there.
   *
   * @param changes The changes.
   * @returns Those that were not taken, since the task was not as expected.
   */
  take(changes: readonly ForeignChange[]): Promise<readonly ForeignChange[]>;
}

/** Who hears of a takeover. Nobody throws. */
export interface TakeoverObserver {
  /** Is told what there is to know. */
  onEvent(event: WalTakeoverEvent): void;
  /** Is told of a line that cannot be read, or is out of order. It stays in the file. */
  onDamage(damage: ForeignDamage): void;
}

/** Something to know about the takeover of a directory of mcp-durable-tasks. */
export type WalTakeoverEvent =
  | {
    /** Tasks were taken over: from a log that was found, or since from an old process that has it open. */
    readonly type: "taken";
    /** The log, under its new name. */
    readonly file: string;
    /** How many tasks were created, replaced or deleted. */
    readonly tasks: number;
  }
  | {
    /** An old process has changed a task that this store has changed too. The store keeps its own record. */
    readonly type: "conflict";
    /** The log, under its new name. */
    readonly file: string;
    /** Where in the log the other record is, in bytes. */
    readonly offset: number;
    /** The task. */
    readonly taskId: string;
    /** The version of the store's own record; NaN: it is damaged. */
    readonly ours: number;
    /** The version of the other record. */
    readonly theirs: number;
  }
  | {
    /** What an old process has appended could not be taken over. It is tried again. */
    readonly type: "failed";
    /** Why. */
    readonly error: unknown;
  };
