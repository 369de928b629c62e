/** Kills real processes at random moments, and looks at what they leave. */

import { cpSync } from "node:fs";
import { join } from "node:path";
import { realDisk } from "../../../src/wal/disk.ts";
import { LogTaskStore } from "../../../src/wal/store.ts";
import { type Child, type ChildOptions, startChild } from "../child.ts";
import { removeDir } from "../wal_dir.ts";
import { END_MS, historyOf, recordOf } from "../wal_history.ts";
import { textOf } from "./model.ts";
import { smallOptions } from "./proof_options.ts";
import type { Random } from "./script.ts";

const CHILD = new URL("../wal_child.ts", import.meta.url);
/** The longest time that a child works, in milliseconds. */
const LONGEST_MS = 150;

/** What is known of a task from outside: 0 stands for its deletion. */
interface Known {
  issued: number;
  acknowledged?: number;
}

/** How to kill. */
export interface KillOptions {
  /** An empty directory, for the store and its copies. */
  readonly dir: string;
  /** How many processes. */
  readonly kills: number;
  /** The option of the store. */
  readonly fsync: boolean;
  /** Where the choices come from. */
  readonly random: Random;
  /** What runs the children; by default this runtime. */
  readonly command?: ChildOptions["command"];
}

/** What was done, and what came of it. */
export interface KillReport {
  /** Processes that were killed. */
  kills: number;
  /** Operations that were acknowledged before the kills. */
  acknowledged: number;
  /** Operations that were under way when the process was killed. */
  open: number;
  /** Tasks that were deleted by a sweep. */
  deleted: number;
  /** What must not have happened. */
  readonly violations: string[];
}

/**
 * Lets one process after the other work on a directory, and kills each.
 *
 * @param options How.
 * @returns What came of it.
 */
export async function killProcesses(options: KillOptions): Promise<KillReport> {
  const { dir, kills, fsync, random, command } = options;
  const log = join(dir, "log");
  const known = new Map<string, Known>();
  const report: KillReport = {
    kills: 0,
    acknowledged: 0,
    open: 0,
    deleted: 0,
    violations: [],
  };
  for (let kill = 0; kill < kills; kill++) {
    const child = startChild(CHILD, {
      args: ["run", log, `${fsync}`, `run${kill}`],
      command,
    });
    const about = kill % 5 === 2
      ? await untilDeletion(child)
      : await untilRandomMoment(child, random, fsync ? 300 : 1_500);
    const { signal } = await child.kill();
    if (signal !== "SIGKILL") {
      report.violations.push(`the child ended by itself: ${child.stderr()}`);
      return report;
    }
    report.kills++;
    for (const line of child.lines.slice(1)) note(known, line);
    await look(log, known, report, `kill ${kill}, ${about}`);
    if (kill % 5 === 4 || kill === kills - 1) {
      await countAll(log, join(dir, "copy"), known, report);
    }
  }
  return report;
}

/** One of five is left to come as far as a deletion, however slow the machine is. */
async function untilDeletion(child: Child): Promise<string> {
  const line = await child.line((line) => /^acknowledged .* 0$/.test(line));
  return `after "${line}"`;
}

/** Every fourth is killed at its opening, the others after some operations or some time. */
async function untilRandomMoment(
  child: Child,
  random: Random,
  mostLines: number,
): Promise<string> {
  await child.line(() => true);
  const dice = random(4);
  if (dice < 2) {
    const ms = dice === 0 ? random(LONGEST_MS / 10) : random(LONGEST_MS);
    if (dice === 1) await child.line(() => child.lines.length > 1);
    await new Promise((resolve) => setTimeout(resolve, ms));
    return `after ${ms} ms`;
  }
  const lines = 2 + random(mostLines);
  await child.line(() => child.lines.length >= lines);
  return `after ${lines} lines`;
}

function note(known: Map<string, Known>, line: string): void {
  const [what, prefix, number, version] = line.split(" ");
  const taskId = `${prefix} ${number}`;
  const state = known.get(taskId) ?? { issued: 0 };
  known.set(taskId, state);
  state[what as "issued" | "acknowledged"] = Number(version);
}

/** Opens what the process has left, and compares every task. */
async function look(
  dir: string,
  known: Map<string, Known>,
  report: KillReport,
  about: string,
): Promise<void> {
  const store = new LogTaskStore(
    smallOptions({ dir, fsync: false }),
    realDisk,
  );
  try {
    await store.ready();
    for (const [taskId, state] of known) {
      if (state.acknowledged !== undefined) report.acknowledged++;
      if (state.issued !== state.acknowledged) report.open++;
      const record = await store.get(taskId, 0);
      const version = record?.version ?? 0;
      if (!isPossible(taskId, state, version)) {
        report.violations.push(
          `${about}: ${taskId} ${JSON.stringify(state)}, found ${version}`,
        );
      }
      if (version === 0) {
        if (state.acknowledged === 0) report.deleted++;
        // It is gone for good, and the next kills need not look.
        known.delete(taskId);
        continue;
      }
      if (textOf(record) !== textOf(recordOf(taskId, version))) {
        report.violations.push(`${about}: ${taskId} at ${version} is changed`);
      }
      // From now on it stays as it is.
      known.set(taskId, { issued: version, acknowledged: version });
    }
  } catch (error) {
    report.violations.push(`${about}: ${(error as Error).stack}`);
  } finally {
    await store.close();
  }
}

/** Whether a task may have a version, 0 for not being there. */
function isPossible(taskId: string, state: Known, version: number): boolean {
  const { issued, acknowledged } = state;
  const { expiring } = historyOf(taskId);
  const first = acknowledged === undefined;
  const last = issued === 0 ? expiring! : issued;
  if (version === 0) {
    // Anybody's sweep may have taken it as soon as it could expire.
    return first || acknowledged === 0 || last === expiring;
  }
  return acknowledged !== 0 && version <= last &&
    version >= (acknowledged ?? 1);
}

/** Nobody lists tasks, but a sweep at the end of all time counts them. */
async function countAll(
  dir: string,
  copy: string,
  known: ReadonlyMap<string, Known>,
  report: KillReport,
): Promise<void> {
  cpSync(dir, copy, { recursive: true });
  const options = smallOptions({ dir: copy, fsync: false });
  const store = new LogTaskStore(options, realDisk);
  try {
    const count = await store.sweep(END_MS);
    if (count !== known.size) {
      report.violations.push(
        `${count} tasks are in the store, not ${known.size}`,
      );
    }
  } finally {
    await store.close();
    removeDir(copy);
  }
}
