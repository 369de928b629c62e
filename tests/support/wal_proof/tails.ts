/** Cuts the last segment of a log at every byte. */

import { LogTaskStore } from "../../../src/wal/store.ts";
import type { DamageReport } from "./damage.ts";
import type { WrittenLog } from "./damaged_log.ts";
import { ABSENT, brief, textOf } from "./model.ts";
import {
  type Heard,
  type ProofOptions,
  proofOptions,
} from "./proof_options.ts";
import { createdBy } from "./script.ts";
import { SimDisk } from "./sim_disk.ts";
import { stateOf } from "./verify.ts";

/**
 * Cuts the last segment, as a process leaves it that dies while it
 * writes, with and without zeros behind: every entry that is whole is there, no
 * damage is reported, and the next entry is sound.
 *
 * @param log The log.
 * @param step How far the cuts are apart; 1: every byte.
 * @param options How to open it.
 * @param report Where it is written down.
 */
export async function checkTails(
  log: WrittenLog,
  step: number,
  options: ProofOptions,
  report: DamageReport,
): Promise<void> {
  const file = log.segments.at(-1)!;
  const bytes = log.files.get(file)!;
  for (let size = 0; size < bytes.length; size += step) {
    for (const zeros of [0, 1 + size * 7 % 300]) {
      const tail = new Uint8Array(size + zeros);
      tail.set(bytes.subarray(0, size));
      const files = new Map(log.files).set(file, tail);
      await checkTail(log, { file, size, files }, options, report);
    }
  }
}

async function checkTail(
  log: WrittenLog,
  tail: {
    readonly file: string;
    readonly size: number;
    readonly files: ReadonlyMap<string, Uint8Array>;
  },
  options: ProofOptions,
  report: DamageReport,
): Promise<void> {
  const { file, size, files } = tail;
  report.logs++;
  const fail = (violation: unknown) =>
    void report.violations.push(
      `cut at ${size}, ${files.get(file)!.length - size} zeros: ${violation}`,
    );
  const expected = new Map([...log.states.keys()].map((id) => [id, ABSENT]));
  for (const entry of log.entries) {
    if (entry.file === file && entry.end > size) break;
    for (const [taskId, state] of entry.states) expected.set(taskId, state);
  }
  const heard: Heard = { compactionError: fail, damages: [] };
  const disk = new SimDisk(files);
  for (const name of ["first", "second"]) {
    const resolved = proofOptions(options, heard);
    const store = new LogTaskStore(resolved, disk.session());
    try {
      for (const [taskId, state] of expected) {
        const found = await stateOf(store, taskId);
        if (found === state) report.served++;
        else fail(`${taskId} is ${brief(found)}, not ${brief(state)}`);
      }
      const record = createdBy(`next ${name}`, 1);
      await store.create(record);
      expected.set(record.taskId, textOf(record));
    } catch (error) {
      fail(`${(error as Error).stack}`);
    } finally {
      await store.close();
    }
  }
  if (heard.damages.length > 0) fail("it is reported as damage");
}
