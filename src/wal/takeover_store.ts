/** The store as a takeover sees it. */

import { hasErrorCode, showPath, StoreFailedError } from "../errors.ts";
import type { TaskRecord } from "../model/record.ts";
import { setOwn } from "../model/json.ts";
import { Damage } from "./damage.ts";
import { appendDamaged, appendDeletion, appendPut, putOf } from "./entries.ts";
import { divideRecord } from "./fields.ts";
import type { StoreParts } from "./open_store.ts";
import type { ResolvedWalOptions } from "./options.ts";
import { ReadDamage } from "./reader.ts";
import type { StagedChange } from "./records.ts";
import { Takeover } from "./takeover.ts";
import type { ForeignChange, TakeoverTarget } from "./takeover_target.ts";
import type { TaskState } from "./task_state.ts";

/** The sequence number after the only entry of a log that holds nothing. */
const FIRST_SEQUENCE = 2;

/**
 * Takes a directory of mcp-durable-tasks over, if it is one.
 *
 * @param parts The store, which gives nothing out yet.
 * @param options Its options.
 * @returns The takeover, which goes on; `undefined` if there is nothing to take over.
 */
export async function openTakeover(
  parts: StoreParts,
  options: ResolvedWalOptions,
): Promise<Takeover | undefined> {
  const { dir, fsync, onTakeover } = options;
  const { log, disk, damages } = parts;
  const opening = Takeover.open({
    dir,
    disk,
    isNew: log.nextSequence <= FIRST_SEQUENCE,
    target: new StoreTarget(parts, fsync),
    observer: {
      onEvent(event) {
        try {
          onTakeover(event);
        } catch {
          // An observer changes no outcome.
        }
      },
      onDamage(found) {
        damages.add(new Damage(found));
        damages.tell();
      },
    },
  });
  try {
    return await opening;
  } catch (cause) {
    if (
      hasErrorCode(cause, "ERR_STORE_FAILED") ||
      hasErrorCode(cause, "ERR_STORE_DAMAGED")
    ) throw cause;
    throw new StoreFailedError(
      `take over what mcp-durable-tasks has left in ${showPath(dir)}`,
      { cause },
    );
  }
}

class StoreTarget implements TakeoverTarget {
  readonly #parts: StoreParts;
  readonly #fsync: boolean;

  constructor(parts: StoreParts, fsync: boolean) {
    this.#parts = parts;
    this.#fsync = fsync;
  }

  version(taskId: string): number | undefined {
    return versionOf(this.#parts.records.committed(taskId));
  }

  read(taskId: string): TaskRecord | undefined {
    const { records, reader } = this.#parts;
    const state = records.committed(taskId);
    if (!state || state.isDamaged) return undefined;
    try {
      const { small, parts } = reader.fields(taskId, state);
      const record = JSON.parse(small);
      for (const ref of parts) {
        setOwn<unknown>(record, ref.key, reader.value(ref));
      }
      return record;
    } catch (cause) {
      if (!(cause instanceof ReadDamage)) throw cause;
      this.#parts.lose(taskId, cause);
      this.#parts.damages.tell();
    }
  }

  async take(
    changes: readonly ForeignChange[],
  ): Promise<readonly ForeignChange[]> {
    const { records, log } = this.#parts;
    const refused: ForeignChange[] = [];
    for (const change of changes) {
      const before = records.appended(change.taskId);
      if (!Object.is(versionOf(before), change.expected)) refused.push(change);
      else this.#stage(change, before);
    }
    await this.#parts.settled();
    // What is read from now on is noted on the disk itself, so it has to be there too.
    if (!this.#fsync) await log.flush();
    return refused;
  }

  #stage(change: ForeignChange, before: TaskState | undefined): void {
    const { records, log, damages } = this.#parts;
    const { taskId, doubt } = change;
    const damage = doubt && damages.add(new Damage(doubt));
    const appended = this.#append(change, before, damage);
    const staged = { taskId, before, ...appended };
    records.stage(staged);
    log.settle((error) => {
      if (error) return records.rollBack();
      records.commit(staged);
      if (damage) damages.take(taskId, damage);
    });
  }

  /** Appends the entry of a change. A record is born with it, since no version of ours leads to it. */
  #append(
    { taskId, record }: ForeignChange,
    before: TaskState | undefined,
    damage: Damage | undefined,
  ): Omit<StagedChange, "taskId" | "before"> {
    const { log } = this.#parts;
    if (!record) {
      if (before) appendDeletion(log, taskId, before);
      return { state: undefined, fields: undefined, texts: undefined };
    }
    const whole = divideRecord(record);
    const put = putOf(taskId, record.version, whole);
    if (damage) {
      const lost = { ...put, born: log.nextSequence };
      const state = appendDamaged(log, taskId, lost, damage.note());
      return { state, fields: undefined, texts: undefined };
    }
    const { state, fields } = appendPut(log, put);
    const texts = new Map(
      fields.parts.map((ref, index) => [ref, whole.parts[index].text]),
    );
    return { state, fields, texts };
  }
}

function versionOf(state: TaskState | undefined): number | undefined {
  return state?.isDamaged ? NaN : state?.version;
}
