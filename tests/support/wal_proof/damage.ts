/** Damages a log, and looks at what is served. */

import { basename } from "node:path";
import { LogTaskStore } from "../../../src/wal/store.ts";
import { CREATED_MS } from "../records.ts";
import type { WrittenEntry, WrittenLog } from "./damaged_log.ts";
import { ABSENT, brief, parse, textOf } from "./model.ts";
import {
  type Heard,
  type ProofOptions,
  proofOptions,
} from "./proof_options.ts";
import { EXPIRED_MS, patchOf, type Random } from "./script.ts";
import { SimDisk } from "./sim_disk.ts";
import { DAMAGED, stateOf } from "./verify.ts";

/** A log with something wrong. */
export interface Damage {
  /** What was done. */
  readonly label: string;
  /** The files. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The file that was changed. */
  readonly file: string;
  /** The bytes that are not what they were. */
  readonly start: number;
  /** The offset after them. */
  readonly end: number;
  /** Whether the store opens the sound log, and this happens then. */
  readonly whileOpen?: boolean;
}

/** What was done, and what came of it. */
export interface DamageReport {
  /** Logs that were opened. */
  logs: number;
  /** Reads that gave the latest state. */
  served: number;
  /** Reads that gave the error of damage. */
  refused: number;
  /** Reads that found nothing, where the creation itself is damaged. */
  unknown: number;
  /** What must not have happened. */
  readonly violations: string[];
}

/** Makes an empty report. */
export function newDamageReport(): DamageReport {
  return { logs: 0, served: 0, refused: 0, unknown: 0, violations: [] };
}

/**
 * Flips bits, each in a log of its own.
 *
 * @param log The log.
 * @param bitsOf Which bits of the so-manyth byte.
 */
export function* flips(
  log: WrittenLog,
  bitsOf: (offset: number) => readonly number[],
): Generator<Damage> {
  for (const [file, bytes] of log.files) {
    for (let offset = 0; offset < bytes.length; offset++) {
      for (const bit of bitsOf(offset)) {
        const changed = bytes.slice();
        changed[offset] ^= 1 << bit;
        const label = `bit ${bit} of byte ${offset} of ${basename(file)}`;
        yield change(log, label, file, changed, offset, offset + 1);
      }
    }
  }
}

/**
 * Flips a bit of some bytes while the store is open.
 *
 * @param log The log.
 * @param step How far they are apart.
 */
export function* decays(log: WrittenLog, step: number): Generator<Damage> {
  for (const damage of flips(log, (at) => at % step ? [] : [at * 3 % 8])) {
    const label = `${damage.label}, while the store is open`;
    yield { ...damage, label, whileOpen: true };
  }
}

/** Cuts every segment but the last at every byte, or at some, and takes each away. */
export function* holes(log: WrittenLog, step: number): Generator<Damage> {
  for (const file of log.segments.slice(0, -1)) {
    const bytes = log.files.get(file)!;
    for (let size = 0; size < bytes.length; size += step) {
      const label = `${basename(file)} is cut at ${size} of ${bytes.length}`;
      const cut = bytes.slice(0, size);
      yield change(log, label, file, cut, size, bytes.length);
    }
    const files = new Map(log.files);
    files.delete(file);
    const label = `${basename(file)} is gone`;
    yield { label, files, file, start: 0, end: bytes.length };
  }
}

/** Writes zeros, or what is in no log, over a random range. */
export function* smears(
  log: WrittenLog,
  random: Random,
  count: number,
): Generator<Damage> {
  for (let made = 0; made < count; made++) {
    const file = log.segments[random(log.segments.length)];
    const bytes = log.files.get(file)!;
    const start = random(bytes.length);
    const length = [1, 2, 3, 10, 100, 1_000, 5_000][random(7)];
    // Zeros at the very end of the last segment are a torn tail.
    const last = file === log.segments.at(-1);
    const end = Math.min(bytes.length - (last ? 1 : 0), start + length);
    if (end <= start) continue;
    const changed = bytes.slice();
    const kind = random(3);
    for (let at = start; at < end; at++) {
      changed[at] = kind === 0
        ? 0
        : kind === 1
        ? random(256)
        : bytes[(at * 7) % bytes.length];
    }
    if (changed.every((byte, at) => byte === bytes[at])) continue;
    const how = ["zeros", "noise", "other parts of it"][kind];
    const label = `${how} over ${start} to ${end} of ${basename(file)}`;
    yield change(log, label, file, changed, start, end);
  }
}

function change(
  log: WrittenLog,
  label: string,
  file: string,
  bytes: Uint8Array,
  start: number,
  end: number,
): Damage {
  const files = new Map(log.files).set(file, bytes);
  return { label, files, file, start, end };
}

/**
 * Opens a damaged log: what is served is right, what is not touched is served,
 * and the damage is reported. With `thorough`, the store is then used, compacted
 * and opened again.
 *
 * @param log The log as it was.
 * @param damage What became of it.
 * @param options How to open it.
 * @param report Where it is written down.
 * @param thorough Whether to go on.
 */
export async function checkDamage(
  log: WrittenLog,
  damage: Damage,
  options: ProofOptions,
  report: DamageReport,
  thorough: boolean,
): Promise<void> {
  report.logs++;
  const before = report.violations.length;
  const fail = (violation: unknown) =>
    void report.violations.push(`${damage.label}: ${violation}`);
  const heard: Heard = { compactionError: fail, damages: [] };
  const { whileOpen = false } = damage;
  const disk = new SimDisk(whileOpen ? log.files : damage.files);
  const open = () =>
    new LogTaskStore(proofOptions(options, heard), disk.session());
  const found = new Map<string, string>();
  const hits = log.entries.filter(({ file, start, end }) =>
    file === damage.file && start < damage.end && end > damage.start
  );

  const store = open();
  try {
    await store.ready();
    if (whileOpen) disk.decay(damage.file, damage.files.get(damage.file)!);
    for (const [taskId, latest] of log.states) {
      const state = await stateOf(store, taskId);
      found.set(taskId, state);
      if (state === latest) report.served++;
      else if (state === DAMAGED) report.refused++;
      else report.unknown++;
      const wrong = wrongIn(log, hits, taskId, state);
      if (wrong) fail(`${taskId} ${wrong}`);
    }
    const places = heard.damages.map(({ file, offset }) =>
      `${basename(file)} at ${offset}`
    );
    // What memory holds need not be read, and so is not found either.
    const isFound = !whileOpen || [...found.values()].includes(DAMAGED);
    if (isFound && !heard.damages.some((one) => isPlace(log, one, damage))) {
      fail(`it is reported at ${places.join(", ") || "no place"}`);
    }
    const { length } = (await store.health()).damage;
    if (length !== heard.damages.length) fail(`health() tells of ${length}`);
    if (thorough) await work(store, found, fail);
  } catch (error) {
    fail(`${(error as Error).stack}`);
  } finally {
    await store.close();
  }
  if (!thorough || report.violations.length > before) return;
  const again = open();
  try {
    for (const [taskId, state] of found) {
      const now = await stateOf(again, taskId);
      if (now === state || (state === ABSENT && now === DAMAGED)) continue;
      // The compaction has come across it.
      if (whileOpen && now === DAMAGED && isHit(hits, taskId)) continue;
      fail(`then ${taskId} is ${brief(now)} and was ${brief(state)}`);
    }
  } catch (error) {
    fail(`the second opening: ${(error as Error).stack}`);
  } finally {
    await again.close();
  }
}

/** Says why a state must not be what is served. */
function wrongIn(
  log: WrittenLog,
  hits: readonly WrittenEntry[],
  taskId: string,
  state: string,
): string | undefined {
  const latest = log.states.get(taskId)!;
  if (state === latest) return undefined;
  const own = log.entries.filter(({ states }) => states.has(taskId));
  const hit = own.filter((entry) => isTouched(hits, entry));
  if (state === DAMAGED) {
    if (hit.length > 0 || mayBeMeant(log, hits, taskId)) return undefined;
    return "is refused and not touched";
  }
  if (state === ABSENT) {
    const died = own.findLastIndex(({ states }) =>
      states.get(taskId) === ABSENT
    );
    return hit.includes(own[died + 1]) ? undefined : "is gone";
  }
  if (latest === ABSENT && hit.includes(own.at(-1)!)) {
    // Its deletion is lost, but it is expired all the same.
    const { ttlMs } = parse(state);
    if (ttlMs === EXPIRED_MS - CREATED_MS) return undefined;
  }
  // Who had ended is not meant by an entry that has lost its id.
  const at = own.findIndex(({ states }) => states.get(taskId) === state);
  const isLost = own.slice(at + 1).every((entry) => isTouched(hits, entry));
  if (at >= 0 && isLost && isEnded(state)) return undefined;
  return `is ${brief(state)}, not ${brief(latest)}`;
}

function isEnded(state: string): boolean {
  return state !== ABSENT && parse(state).status === "completed";
}

/** Whether an entry is damaged, or another of its operation: which of them is of a task is not known. */
function isTouched(
  hits: readonly WrittenEntry[],
  { states }: WrittenEntry,
): boolean {
  return hits.some((hit) => hit.states === states);
}

function isHit(hits: readonly WrittenEntry[], taskId: string): boolean {
  return hits.some(({ states }) => states.has(taskId));
}

/** Whether an entry that has lost its id may have been of a task: it was there then, and unfinished. */
function mayBeMeant(
  log: WrittenLog,
  hits: readonly WrittenEntry[],
  taskId: string,
): boolean {
  const first = Math.min(...hits.map((hit) => log.entries.indexOf(hit)));
  const last = Math.max(...hits.map((hit) => log.entries.indexOf(hit)));
  let state = ABSENT;
  for (const [index, { states }] of log.entries.entries()) {
    const isBeside = index >= first && index <= last + 1;
    if (isBeside && state !== ABSENT && !isEnded(state)) return true;
    state = states.get(taskId) ?? state;
  }
  return hits.length > 0 && last === log.entries.length - 1 &&
    state !== ABSENT && !isEnded(state);
}

/** Whether a report points at the damage: the entry that it is in, or the end of what is missing. */
function isPlace(
  log: WrittenLog,
  { file, offset }: { readonly file: string; readonly offset: number },
  damage: Damage,
): boolean {
  if (file === damage.file) {
    const touched = log.entries.find((entry) =>
      entry.file === file && entry.end > damage.start
    );
    return offset >= Math.min(touched?.start ?? 0, damage.start) - 1 &&
        offset <= damage.end || damage.start < (touched?.start ?? 0);
  }
  const next = log.segments[log.segments.indexOf(damage.file) + 1];
  return file === next && damage.end === log.files.get(damage.file)!.length;
}

/** Uses a store in which something is damaged, and compacts it. */
async function work(
  store: LogTaskStore,
  found: Map<string, string>,
  fail: (violation: string) => void,
): Promise<void> {
  let serial = 2_000_000;
  for (const [taskId, state] of found) {
    if (state === ABSENT) continue;
    const patch = patchOf(taskId, ++serial, "progress");
    const version = state === DAMAGED ? 1 : JSON.parse(state).version;
    try {
      const made = await store.update(taskId, patch, version, CREATED_MS);
      found.set(taskId, textOf(made));
      if (state === DAMAGED) fail(`${taskId} is changed, but it is damaged`);
    } catch (error) {
      const { code } = error as { code?: string };
      if (state === DAMAGED && code === "ERR_STORE_DAMAGED") continue;
      fail(`update of ${taskId}: ${error}`);
    }
  }
  await store.compact();
}
