/** A process of mcp-durable-tasks that goes on with its log while others take it over. */

import { join } from "node:path";
import type { TaskRecord } from "../../../mod.ts";
import type { Disk, DiskFile } from "../../../src/wal/disk.ts";
import { aRecord, CREATED_MS } from "../records.ts";
import { ABSENT, type Allowed, brief, textOf } from "./model.ts";
import { END_MS } from "./script.ts";

const encoder = new TextEncoder();
const TASK_IDS = ["old 0", "old 1", "old 2"];

/** Writes puts to `wal.jsonl`, and says what a store may have of them. */
export class OldProcess {
  /** Its tasks, which nobody else changes. */
  readonly taskIds: readonly string[] = TASK_IDS;
  readonly #file: DiskFile;
  #size = 0;
  #sequence = 0;
  /** The states of each task, in the order in which they were written. */
  readonly #states = new Map<string, string[]>();
  /** The one that was seen in a store. */
  readonly #seen = new Map<string, number>();
  /** The task whose last state may not be on the disk. */
  #underWay: string | undefined;

  /**
   * @param disk The disk, which lives on when the others are killed.
   * @param dir The directory.
   */
  constructor(disk: Disk, dir: string) {
    this.#file = disk.open(join(dir, "wal.jsonl"));
    for (const taskId of TASK_IDS) this.#states.set(taskId, [ABSENT]);
  }

  /** Creates a task, or takes it to its next state. */
  append(taskId: string, text: string): void {
    const states = this.#states.get(taskId)!;
    const version = states.length - 1;
    const ttlMs = END_MS - CREATED_MS;
    const record = aRecord(taskId, { version, statusMessage: text, ttlMs });
    const value = { t: "put", record };
    const line = JSON.stringify({ seq: ++this.#sequence, value }) + "\n";
    const bytes = encoder.encode(line);
    states.push(textOf(record));
    this.#underWay = taskId;
    this.#size += this.#file.write(bytes, this.#size);
    this.#file.syncNow();
    this.#underWay = undefined;
  }

  /** What an opening may find of each task. */
  allowed(): [taskId: string, allowed: Allowed][] {
    return TASK_IDS.map((taskId) => {
      const states = this.#states.get(taskId)!;
      const isOpen = this.#underWay === taskId;
      const acknowledged = states.at(isOpen ? -2 : -1)!;
      const open = isOpen ? states.slice(-1) : [];
      return [taskId, { acknowledged, open, since: [acknowledged, ...open] }];
    });
  }

  /** How many states of a task were written. */
  place(taskId: string): number {
    return this.#states.get(taskId)!.length - 1;
  }

  /**
   * Looks at what a store gives: no older state than it has given before.
   *
   * @param taskId The task.
   * @param record What it gives.
   * @param least The place of the oldest state that it may be.
   * @returns What is wrong with it.
   */
  judge(
    taskId: string,
    record: TaskRecord | undefined,
    least: number,
  ): string | undefined {
    const states = this.#states.get(taskId)!;
    const text = textOf(record);
    const place = states.indexOf(text);
    if (place >= least && place >= 0) {
      this.#seen.set(taskId, Math.max(place, this.seen(taskId)));
      return undefined;
    }
    return `${taskId} of the old process is ${
      brief(text)
    }, place ${place}, not from ${least} on`;
  }

  /** The place of the newest state that a store has given. */
  seen(taskId: string): number {
    return this.#seen.get(taskId) ?? 0;
  }
}
