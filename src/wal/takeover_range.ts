/** Takes over a range of a log. */

import type { TaskRecord } from "../model/record.ts";
import { isTerminalStatus } from "../model/status.ts";
import { digestOf, type KnownStates } from "./takeover_known.ts";
import type { ForeignLine } from "./takeover_lines.ts";
import type { TakenLog } from "./takeover_taken.ts";
import type {
  ForeignChange,
  ForeignDamage,
  TakeoverObserver,
  TakeoverTarget,
} from "./takeover_target.ts";
import { judge } from "./takeover_verdict.ts";

/** In the place of an offset: the last entry of a task deletes it. */
const DELETED = -1;
/** Bytes of lines after which changes are handed over. */
const BATCH_BYTES = 1024 * 1024;

/** What a range is, and who takes it. */
export interface RangeRequest {
  /** The log. The range starts where it was read to. */
  readonly log: TakenLog;
  /** What was taken over before. */
  readonly known: KnownStates;
  /** Where to stop: whole lines up to there are taken. */
  readonly to: number;
  /** The store. */
  readonly target: TakeoverTarget;
  /** Is told what there is to know. */
  readonly observer: TakeoverObserver;
}

/** A change, and where it comes from. */
interface Step {
  readonly change: ForeignChange;
  readonly offset: number;
}

/**
 * Takes over a range: reads it once to learn which entry is the last of each
 * task, and once more to take those. So what is in memory of a log, however long
 * it is, is an offset and a digest for each task, and the records of one batch.
 *
 * @param request The range.
 * @returns Where the whole lines of the range end.
 */
export async function takeRange(request: RangeRequest): Promise<number> {
  return await new Range(request).take();
}

class Range {
  readonly #request: RangeRequest;
  readonly #log: TakenLog;
  readonly #from: number;
  /** Where the whole lines end. */
  #end: number;
  /** Where the last entry of each task is. */
  readonly #places = new Map<string, number>();
  /** The last lines that cannot be read, as one. */
  #damage: ForeignDamage | undefined;
  #steps: Step[] = [];
  /** The digests of the states that were decided about since the last batch. */
  #states = new Map<string, string | undefined>();
  #bytes = 0;
  #taken = 0;

  constructor(request: RangeRequest) {
    this.#request = request;
    this.#log = request.log;
    this.#from = this.#end = this.#log.read ?? 0;
  }

  async take(): Promise<number> {
    await this.#request.known.read();
    await this.#survey();
    for await (
      const { line, entry } of this.#log.entries(this.#from, this.#end)
    ) {
      if (!entry || "problem" in entry || !entry.record) continue;
      if (this.#places.get(entry.taskId) !== line.offset) continue;
      this.#weigh(entry.taskId, line.offset, entry.record);
      this.#bytes += line.bytes;
      if (this.#bytes >= BATCH_BYTES) await this.#flush();
    }
    for (const [taskId, place] of this.#places) {
      if (place === DELETED) this.#weigh(taskId, this.#from);
    }
    if (this.#damage) this.#doubtOlder(this.#damage);
    await this.#flush();
    if (this.#taken > 0) {
      const { observer } = this.#request;
      const file = this.#log.path;
      observer.onEvent({ type: "taken", file, tasks: this.#taken });
    }
    return this.#end;
  }

  async #survey(): Promise<void> {
    const { to } = this.#request;
    let lastSeq = 0;
    let isOrdered = true;
    let unreadable: ForeignDamage | undefined;
    for await (
      const { line, entry, isDone } of this.#log.entries(this.#from, to)
    ) {
      this.#end = line.offset + line.bytes + 1;
      if (!entry) continue;
      if ("problem" in entry) {
        unreadable = this.#joined(unreadable, line, entry.problem);
        continue;
      }
      const { taskId, seq, record } = entry;
      if (isOrdered && seq <= lastSeq) {
        isOrdered = false; // Where two have written, many lines are so.
        this.#request.observer.onDamage({
          file: this.#log.path,
          offset: line.offset,
          bytes: line.bytes,
          reason:
            `an entry has sequence number ${seq}, the one before it ${lastSeq}, as if two processes had written; it is taken, and so is what follows`,
        });
      }
      lastSeq = seq;
      if (!isDone) this.#places.set(taskId, record ? line.offset : DELETED);
    }
    this.#joined(unreadable);
  }

  /** Joins lines that follow each other, and reports those before them if they do not. */
  #joined(
    before: ForeignDamage | undefined,
    line?: ForeignLine,
    reason: string = "",
  ): ForeignDamage | undefined {
    if (before && before.offset + before.bytes + 1 === line?.offset) {
      return { ...before, bytes: before.bytes + 1 + line.bytes };
    }
    if (before) {
      this.#damage = before;
      this.#request.observer.onDamage(before);
    }
    if (!line) return undefined;
    const { offset, bytes } = line;
    return { file: this.#log.path, offset, bytes, reason };
  }

  /** Decides about a task by its last entry in the range: its record, or its deletion. */
  #weigh(taskId: string, offset: number, record?: TaskRecord): void {
    const { target, known } = this.#request;
    const version = target.version(taskId);
    const our = this.#ourDigest(taskId);
    const their = record && digestOf(record);
    const isUntouched = our !== undefined && known.isTheirs(taskId, our);
    const ours = version === undefined ? undefined : { version, isUntouched };
    const theirs = record && {
      version: record.version,
      isOurs: our === their,
      isKnown: known.isTaken(taskId, their!),
    };
    this.#states.set(taskId, their);
    if (
      record && this.#damage && offset < this.#damage.offset &&
      !isTerminalStatus(record.status)
    ) {
      // What came after it may be what cannot be read.
      if (ours && !isUntouched) return;
      const doubt = this.#damage;
      return this.#push(offset, { taskId, expected: version, record, doubt });
    }
    const expected = version;
    switch (judge(ours, theirs)) {
      case "create":
      case "replace":
        return this.#push(offset, { taskId, expected, record });
      case "recreate":
        this.#push(offset, { taskId, expected });
        return this.#push(offset, { taskId, record });
      case "delete":
        return this.#push(offset, { taskId, expected });
      case "conflict":
        return this.#conflict(taskId, offset, version!, record!.version);
    }
  }

  #ourDigest(taskId: string): string | undefined {
    const record = this.#request.target.read(taskId);
    return record && digestOf(record);
  }

  /** Tasks of earlier ranges that were not finished: the damaged line may have been about them. */
  #doubtOlder(doubt: ForeignDamage): void {
    const { target, known } = this.#request;
    for (const taskId of known.taskIds()) {
      if (this.#places.has(taskId)) continue;
      const record = target.read(taskId);
      if (!record || isTerminalStatus(record.status)) continue;
      if (!known.isTheirs(taskId, digestOf(record))) continue;
      const { version: expected } = record;
      this.#push(doubt.offset, { taskId, expected, record, doubt });
    }
  }

  #push(offset: number, change: ForeignChange): void {
    this.#steps.push({ offset, change });
  }

  /** Hands changes over, and judges anew where somebody was faster. */
  async #flush(): Promise<void> {
    const { target, known } = this.#request;
    this.#bytes = 0;
    await known.note(this.#states);
    this.#states = new Map();
    while (this.#steps.length > 0) {
      const steps = this.#steps;
      this.#steps = [];
      const refused = new Set(
        await target.take(steps.map(({ change }) => change)),
      );
      const again = new Map<string, Step>();
      const taken = new Set<string>();
      for (const step of steps) {
        const { taskId } = step.change;
        if (refused.has(step.change)) again.set(taskId, step);
        else taken.add(taskId);
      }
      this.#taken += taken.size;
      again.forEach((step) => this.#judgeAnew(step));
    }
  }

  #judgeAnew({ change, offset }: Step): void {
    const { target } = this.#request;
    const { taskId, expected, record, doubt } = change;
    const version = target.version(taskId);
    if (version === expected) {
      // The write that was faster has failed.
      this.#push(offset, change);
    } else if (version === undefined) {
      if (record) this.#push(offset, { taskId, record, doubt });
    } else if (
      record && !doubt && this.#ourDigest(taskId) !== digestOf(record)
    ) {
      this.#conflict(taskId, offset, version, record.version);
    }
  }

  #conflict(
    taskId: string,
    offset: number,
    ours: number,
    theirs: number,
  ): void {
    const file = this.#log.path;
    this.#request.observer.onEvent({
      type: "conflict",
      file,
      offset,
      taskId,
      ours,
      theirs,
    });
  }
}
