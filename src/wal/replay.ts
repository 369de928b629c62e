/** Makes the states of tasks from the entries of a log, in order. */

import { basename, dirname, join } from "node:path";
import { Damage, type Damages } from "./damage.ts";
import type { EntryHead, PartRow } from "./frame.ts";
import type { Reader } from "./reader.ts";
import type { DamageItem, EntryItem } from "./scan.ts";
import type { Segment } from "./segment.ts";
import { TaskState, type UnappliedChange } from "./task_state.ts";

/** So many changes of a task wait until somebody asks for it. */
const MOST_UNAPPLIED = 64;

const NO_ROWS: readonly PartRow[] = [];

/** The states of a log that is being read. */
export class Replay {
  /** What was found so far. */
  readonly states: Map<string, TaskState> = new Map();
  readonly #reader: Reader;
  readonly #damages: Damages;
  /** The parts of the tasks that have any. */
  readonly #parts = new Map<string, readonly PartRow[]>();

  /**
   * @param reader Reads what was found before.
   * @param damages Takes what is damaged.
   */
  constructor(reader: Reader, damages: Damages) {
    this.#reader = reader;
    this.#damages = damages;
  }

  /**
   * Takes the next entry of a task.
   *
   * @param item The entry.
   * @param segment Where it is.
   * @param small Gives its small fields.
   */
  entry(item: EntryItem, segment: Segment, small: () => string): void {
    const { head } = item;
    switch (head.kind) {
      case "p":
        this.#put(item, segment);
        break;
      case "c":
        this.#change(item, segment, small);
        break;
      case "d":
        this.#delete(head);
        break;
      case "x":
        this.#damaged(item, segment, small());
    }
  }

  /**
   * Takes damage: the tasks that it touches, or may touch, have no state that
   * could be served.
   *
   * @param item The damage.
   * @param segment Where it is.
   */
  damage(item: DamageItem, segment: Segment): void {
    const { offset, bytes, reason, head, lost } = item;
    const damage = this.#damages.add(
      new Damage({ segment, file: segment.path, offset, bytes, reason }),
    );
    if (head && head.taskId !== "") this.#lose(head, segment, offset, damage);
    if (lost === 0) return;
    for (const [taskId, state] of this.states) {
      if (!state.ended && !state.isDamaged) this.#take(taskId, state, damage);
    }
  }

  /** Ends the replay: what no later entry has made good is damage. */
  finish(): void {
    for (const [taskId, state] of this.states) {
      if (state.isDamaged) this.#damages.add(this.#damages.of(taskId)!);
    }
  }

  #put({ head, offset, bodyOffset }: EntryItem, segment: Segment): void {
    const { taskId, born, version, smallBytes } = head;
    const before = this.states.get(taskId);
    if (before && isOlder(head, before)) return;
    const frontBytes = bodyOffset - offset + smallBytes;
    let aliveBytes = frontBytes + 1;
    for (const { bytes } of head.rows) aliveBytes += bytes;
    const { expiresAt, ended } = head;
    if (before?.isDamaged) this.#damages.release(taskId);
    this.#keepParts(taskId, head.rows);
    this.states.set(
      taskId,
      new TaskState({
        born,
        version,
        expiresAt,
        ended,
        aliveBytes,
        segment,
        offset,
        frontBytes,
      }),
    );
  }

  #change(item: EntryItem, segment: Segment, small: () => string): void {
    const { head, offset, bodyOffset } = item;
    const { taskId, born, version, expiresAt, ended, rows } = head;
    const before = this.states.get(taskId);
    if (before && isOlder(head, before)) return;
    if (before?.born === born && before.version === version) return;
    if (
      !before || before.isDamaged || before.born !== born ||
      version !== before.version + 1
    ) {
      // No damage if a put comes: then what it stood on was compacted away.
      const damage = before?.isDamaged && this.#damages.of(taskId) ||
        new Damage({
          segment,
          file: segment.path,
          offset,
          bytes: 0,
          reason: "the version before this one is missing",
        });
      this.#lose(head, segment, offset, damage);
      return;
    }
    const change: UnappliedChange = {
      small: small(),
      rows,
      segment,
      offset: bodyOffset + head.smallBytes,
    };
    const { overlay } = before;
    // Nobody else has a state that is being replayed, nor its changes.
    const changes = (overlay?.changes ?? []) as UnappliedChange[];
    changes.push(change);
    let { aliveBytes } = before;
    if (changes.length === 1) aliveBytes += head.smallBytes;
    const partsBefore = this.#parts.get(taskId) ?? NO_ROWS;
    if (partsBefore.length > 0 || rows.length > 0) {
      const parts = partsAfter(partsBefore, change);
      aliveBytes += bytesOf(parts) - bytesOf(partsBefore);
      this.#keepParts(taskId, parts);
    }
    const state = new TaskState({
      born,
      version,
      expiresAt,
      ended,
      aliveBytes,
      segment: before.segment,
      offset: before.offset,
      frontBytes: before.frontBytes,
      overlay: { fields: overlay?.fields, changes },
    });
    this.states.set(taskId, state);
    // So that the changes of one task do not fill the memory.
    if (changes.length >= MOST_UNAPPLIED) this.#reader.fields(taskId, state);
  }

  #delete(head: EntryHead): void {
    const before = this.states.get(head.taskId);
    if (!before || head.born < before.born) return;
    this.states.delete(head.taskId);
    this.#parts.delete(head.taskId);
    this.#damages.release(head.taskId);
  }

  #damaged(item: EntryItem, segment: Segment, note: string): void {
    const { head, offset } = item;
    const before = this.states.get(head.taskId);
    if (before && isOlder(head, before)) return;
    const where = JSON.parse(note) as {
      file?: string;
      offset?: number;
      reason?: string;
    };
    const damage = this.#damages.add(
      new Damage({
        file: join(dirname(segment.path), basename(where.file ?? segment.path)),
        offset: where.offset ?? offset,
        bytes: 0,
        reason: where.reason ?? "it was damaged",
      }),
    );
    this.#lose(head, segment, offset, damage);
  }

  /** The state after an entry is not known. */
  #lose(
    head: EntryHead,
    segment: Segment,
    offset: number,
    damage: Damage,
  ): void {
    const { taskId, born, version, expiresAt, ended, kind } = head;
    const before = this.states.get(taskId);
    if (before && isOlder(head, before)) return;
    // A deletion whose body alone is damaged says all that it has to say.
    if (kind === "d") return this.#delete(head);
    // It stands where the older one does, so that a compaction comes across it.
    const base = before && kind !== "x" ? before : { segment, offset };
    this.#damages.take(taskId, damage);
    this.states.set(
      taskId,
      new TaskState({
        born,
        version,
        expiresAt,
        ended,
        aliveBytes: 200,
        segment: base.segment,
        offset: base.offset,
        frontBytes: 0,
        isDamaged: true,
      }),
    );
  }

  #keepParts(taskId: string, parts: readonly PartRow[]): void {
    if (parts.length > 0) this.#parts.set(taskId, parts);
    else this.#parts.delete(taskId);
  }

  #take(taskId: string, state: TaskState, damage: Damage): void {
    state.isDamaged = true;
    state.overlay = undefined;
    this.#damages.take(taskId, damage);
  }
}

/** The parts that a task has after a change. */
function partsAfter(
  before: readonly PartRow[],
  { small, rows }: UnappliedChange,
): readonly PartRow[] {
  const replaced = new Set(rows.map(({ key }) => key));
  if (before.length > 0) {
    for (const key of Object.keys(JSON.parse(small))) replaced.add(key);
  }
  return [
    ...before.filter(({ key }) => !replaced.has(key)),
    ...rows.filter(({ bytes }) => bytes >= 0),
  ];
}

function bytesOf(parts: readonly PartRow[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Whether an entry comes before what is known, in the life of the task. */
function isOlder(head: EntryHead, state: TaskState): boolean {
  return head.born < state.born ||
    (head.born === state.born && head.version < state.version);
}
