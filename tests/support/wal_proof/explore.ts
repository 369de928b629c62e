/** Plays a script, and breaks it at each call of the disk, in each way. */

import type { CallKind, SimCall, SimFault } from "./calls.ts";
import { type Expected, textOf } from "./model.ts";
import { nextTurn, Player } from "./player.ts";
import type { ProofOptions } from "./proof_options.ts";
import { createdBy, type Step } from "./script.ts";
import { SimDisk } from "./sim_disk.ts";
import { imagesOf, type Snapshot } from "./snapshot.ts";
import { verifyImage } from "./verify.ts";

/** What was done, and what came of it. */
export interface Report {
  /** Calls of the disk in the run without a fault. */
  calls: number;
  /** Runs with a fault. */
  faults: number;
  /** Images that were opened and compared. */
  images: number;
  /** What must not have happened. */
  readonly violations: string[];
}

/** How to explore. */
export interface ExploreOptions extends ProofOptions {
  /** How many prefixes of what was not flushed are tried at one moment. */
  readonly prefixes: number;
  /** After a fault, at how many of the next calls a crash is tried too. */
  readonly crashesAfterFault: number;
  /** Of so many images one is also worked on and opened again. */
  readonly deepEvery: number;
}

/** How a call is broken. */
interface Way {
  readonly name: string;
  /** Which calls it fits; all, if it is absent. */
  readonly kinds?: readonly CallKind[];
  /** What the calls from the chosen one on meet. */
  readonly fault: (call: SimCall, chosen: SimCall) => SimFault | undefined;
}

const FULL: readonly CallKind[] = ["write", "open", "makeDir", "rename"];

const WAYS: readonly Way[] = [
  {
    name: "EIO once",
    fault: (call, chosen) => call === chosen ? { throws: "EIO" } : undefined,
  },
  {
    name: "EIO from now on for calls of its kind",
    fault: (call, chosen) =>
      call.kind === chosen.kind ? { throws: "EIO" } : undefined,
  },
  {
    name: "ENOSPC once",
    kinds: FULL,
    fault: (call, chosen) => call === chosen ? { throws: "ENOSPC" } : undefined,
  },
  {
    name: "a full disk from now on",
    kinds: FULL,
    fault: (call) =>
      FULL.includes(call.kind) ? { throws: "ENOSPC" } : undefined,
  },
  {
    name: "a short write",
    kinds: ["write"],
    fault: (call, chosen) =>
      call === chosen ? { atMost: call.bytes >> 1 } : undefined,
  },
  {
    name: "a short write, and then a full disk",
    kinds: ["write"],
    fault: (call, chosen) => {
      if (call === chosen) return { atMost: call.bytes * 2 / 3 | 0 };
      return call.kind === "write" && call.number < chosen.number + 4
        ? { throws: "ENOSPC" }
        : undefined;
    },
  },
];

interface Moment {
  readonly label: string;
  readonly snapshot: Snapshot;
  readonly expected: Expected;
}

/**
 * Crashes a run just before and just after each call, in every image that the
 * crash can leave; fails each call in every way.
 *
 * @param script The script.
 * @param options How.
 * @returns What came of it.
 */
export async function explore(
  script: readonly Step[],
  options: ExploreOptions,
): Promise<Report> {
  const report: Report = { calls: 0, faults: 0, images: 0, violations: [] };
  const kinds = await exploreCrashes(script, options, report);
  report.calls = kinds.length;
  for (const way of WAYS) {
    // What a clock decides is now so, now so: a run may have some more calls.
    for (let number = 1;; number++) {
      const kind = kinds.at(number - 1);
      if (kind && way.kinds && !way.kinds.includes(kind)) continue;
      if (!await exploreFault(script, options, report, way, number)) break;
    }
  }
  return report;
}

async function exploreCrashes(
  script: readonly Step[],
  options: ExploreOptions,
  report: Report,
): Promise<CallKind[]> {
  const disk = new SimDisk();
  const player = new Player(disk, options);
  const moments: Moment[] = [];
  const kinds: CallKind[] = [];
  disk.meter.moment = (call, when) => {
    if (when === "before") kinds.push(call.kind);
    const label = `crash just ${when} call ${call.number} (${call.kind})`;
    const inWrite = when === "after" && call.kind === "write";
    moments.push(momentOf(label, disk, player, inWrite));
  };
  await player.play(script);
  add(report, "without a fault", player.violations);
  await verifyMoments(moments, options, report);
  return kinds;
}

async function exploreFault(
  script: readonly Step[],
  options: ExploreOptions,
  report: Report,
  way: Way,
  number: number,
): Promise<boolean> {
  const disk = new SimDisk();
  const player = new Player(disk, options);
  const moments: Moment[] = [];
  let chosen: SimCall | undefined;
  let ended = false;
  disk.meter.fault = (call) => {
    if (call.number === number) {
      chosen = call;
      player.faulted = true;
    }
    return chosen && !ended ? way.fault(call, chosen) : undefined;
  };
  disk.meter.moment = (call, when) => {
    const last = number + options.crashesAfterFault;
    if (when === "before" || call.number <= number || call.number > last) {
      return;
    }
    const label = `crash just after call ${call.number} (${call.kind})`;
    const inWrite = call.kind === "write";
    moments.push(momentOf(label, disk, player, inWrite));
  };
  await player.play(script);
  if (!chosen) return false;
  report.faults++;
  ended = true;
  moments.push(momentOf("power loss at the end", disk, player));
  const label = `${way.name} at call ${number} (${chosen.kind} ${
    chosen.path.split("/").at(-1)
  })`;
  await player.open();
  if (player.store) await probe(player);
  else player.violations.push("the store does not open after the fault");
  moments.push(momentOf("power loss in the store after it", disk, player));
  await player.close();
  moments.push(momentOf("power loss after it is closed", disk, player));
  add(report, label, player.violations);
  await verifyMoments(moments, options, report, label);
  return true;
}

/** The fault is over: what is opened now works. */
async function probe(player: Player): Promise<void> {
  const { store, model } = player;
  for (const name of ["probe 1", "probe 2"]) {
    const record = createdBy(name, 0, 500);
    const acknowledge = model.ask(name, textOf(record));
    try {
      await store!.create(record);
    } catch (error) {
      player.violations.push(`create() after the fault: ${error}`);
      return;
    }
    acknowledge();
    await nextTurn();
  }
}

function momentOf(
  label: string,
  disk: SimDisk,
  player: Player,
  inWrite = false,
): Moment {
  return {
    label,
    snapshot: disk.snapshot(inWrite),
    expected: player.model.expected(),
  };
}

async function verifyMoments(
  moments: readonly Moment[],
  options: ExploreOptions,
  report: Report,
  context?: string,
): Promise<void> {
  const seen = new Set<string>();
  for (const { label, snapshot, expected } of moments) {
    for (const image of imagesOf(snapshot, options.prefixes)) {
      const key = `${expected.version}\n${image.loss}\n${image.key}`;
      if (seen.has(key)) continue;
      seen.add(key);
      report.images++;
      const where = [context, label, image.label].filter(Boolean).join(", ");
      const deep = report.images % options.deepEvery === 0;
      add(report, where, await verifyImage(image, expected, options, deep));
    }
  }
}

function add(
  report: Report,
  label: string,
  violations: readonly string[],
): void {
  for (const violation of violations) {
    report.violations.push(`${label}: ${violation}`);
  }
}
