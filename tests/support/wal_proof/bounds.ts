/** Keeps a store busy for long, and looks whether anything grows. */

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { realDisk } from "../../../src/wal/disk.ts";
import { LogTaskStore } from "../../../src/wal/store.ts";
import { aRecord, CREATED_MS } from "../records.ts";
import {
  BOUND_SEGMENT_BYTES,
  boundOptions,
  type ProofOptions,
} from "./proof_options.ts";
import { nextTurn } from "./player.ts";
import type { Random } from "./script.ts";

/** Tasks that are alive at a time, about. */
const ALIVE = 400;
/** Bytes of an entry beside the record's JSON, at most, in this workload. */
const FRAME_BYTES = 160;
/** More handles than that are a leak. */
const MOST_HANDLES = 45;
/** Operations between two looks at the disk. */
const LOOK_EVERY = 97;

/** Turns of the event loop in which a compaction catches up. */
const MOMENT_TURNS = 200;

/** How to keep it busy. */
export interface BoundOptions extends ProofOptions {
  /** How many operations. */
  readonly operations: number;
  /** Where the choices come from. */
  readonly random: Random;
  /** Bytes by which the memory may have grown in the second half. */
  readonly memorySlack: number;
}

/** What was seen. */
export interface BoundReport {
  /** Operations that were acknowledged. */
  operations: number;
  /** How often the disk was looked at. */
  looks: number;
  /** The largest part of its bound that the disk took, 1 for all of it. */
  fullest: number;
  /** Handles at most, beyond those at the beginning; -1 where the system does not tell. */
  handles: number;
  /** Bytes on the heap and beside it after the first half, and at the end. */
  heap: readonly [number, number];
  /** Bytes of the process then. */
  resident: readonly [number, number];
  /** What must not have happened. */
  readonly violations: string[];
}

/**
 * Creates, changes, completes and sweeps tasks.
 *
 * @param options How.
 * @returns What was seen.
 */
export async function keepBusy(options: BoundOptions): Promise<BoundReport> {
  const { dir, operations, random, memorySlack } = options;
  const violations: string[] = [];
  const resolved = boundOptions(options, (error) => {
    violations.push(`a compaction failed: ${error}`);
  });
  const handlesBefore = handles();
  const store = new LogTaskStore(resolved, realDisk);
  await store.ready();
  const alive = new Map<string, { version: number; bytes: number }>();
  let aliveBytes = 0;
  const keep = (id: string, version: number, bytes: number) => {
    aliveBytes += bytes - (alive.get(id)?.bytes ?? 0);
    alive.set(id, { version, bytes });
  };
  const report = {
    operations: 0,
    looks: 0,
    fullest: 0,
    handles: handlesBefore < 0 ? -1 : 0,
    heap: [0, 0] as [number, number],
    resident: [0, 0] as [number, number],
    violations,
  };
  const look = async () => {
    report.looks++;
    const bound = 2.5 * aliveBytes + 2 * BOUND_SEGMENT_BYTES;
    let used = bytesIn(dir);
    // What a sweep has just deleted takes the compaction a moment.
    for (let turn = 0; used > bound && turn < MOMENT_TURNS; turn++) {
      await nextTurn();
      used = bytesIn(dir);
    }
    report.fullest = Math.max(report.fullest, used / bound);
    if (used > bound) {
      violations.push(
        `after ${report.operations} operations ${used} bytes are on the disk, ${aliveBytes} are alive`,
      );
    }
    if (handlesBefore < 0) return;
    report.handles = Math.max(report.handles, handles() - handlesBefore);
  };

  let born = 0;
  let gone = 0;
  try {
    while (report.operations < operations && violations.length < 10) {
      // A few callers at once, each with a task of its own.
      const batch = Array.from({ length: 1 + random(8) }, async () => {
        const number = born++;
        const id = `task ${number}`;
        // Tasks expire in the order of their numbers, one a millisecond.
        const ttlMs = 1 + number;
        let record = aRecord(id, { ttlMs, owner: "somebody" });
        await store.create(record);
        report.operations++;
        keep(id, 1, JSON.stringify(record).length + FRAME_BYTES);
        for (let change = 0; change < 4; change++) {
          const patch = change < 3
            ? { statusMessage: `step ${change} of 3 of ${id}` }
            : {
              status: "completed" as const,
              result: { text: "r".repeat([10, 500, 5_000][random(3)]) },
            };
          record = await store.update(id, patch, record.version, CREATED_MS);
          report.operations++;
          keep(id, record.version, JSON.stringify(record).length + FRAME_BYTES);
        }
      });
      await Promise.all(batch);
      if (born - gone > ALIVE + random(ALIVE)) {
        const until = born - ALIVE;
        const count = await store.sweep(CREATED_MS + until);
        report.operations += count;
        if (count !== until - gone) {
          violations.push(`sweep() counts ${count}, not ${until - gone}`);
        }
        for (; gone < until; gone++) {
          const id = `task ${gone}`;
          aliveBytes -= alive.get(id)!.bytes;
          alive.delete(id);
        }
      }
      if (report.operations % LOOK_EVERY < 20) await look();
      if (report.heap[0] === 0 && report.operations > operations / 2) {
        [report.heap[0], report.resident[0]] = memory();
      }
    }
    [report.heap[1], report.resident[1]] = memory();
    for (const [before, after] of [report.heap, report.resident]) {
      if (after - before > memorySlack) {
        violations.push(`the memory has grown from ${before} to ${after}`);
      }
    }
    if (report.handles > MOST_HANDLES) {
      violations.push(`${report.handles} files are open`);
    }
  } finally {
    await store.close();
  }
  return report;
}

function bytesIn(dir: string): number {
  let sum = 0;
  for (const name of readdirSync(dir)) {
    try {
      sum += statSync(join(dir, name)).size;
    } catch {
      // It was removed in between.
    }
  }
  return sum;
}

/** How many handles this process has; -1 where the system does not tell. */
function handles(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return -1;
  }
}

/** Bytes on the heap and beside it, and of the whole process. */
function memory(): [heap: number, resident: number] {
  const { gc } = globalThis as { gc?: () => void };
  gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return [heapUsed + external, rss];
}
