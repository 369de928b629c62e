/** What a crash can leave of a disk. */

import { dirname } from "node:path";
import {
  applyName,
  applyWrite,
  type Inode,
  type PendingName,
  type Write,
} from "./inode.ts";

/** A disk at one moment: what is on the platter, and what is on its way there. */
export interface Snapshot {
  /** The names on the platter. */
  readonly names: ReadonlyMap<string, Inode>;
  /** The changes of names that are not. */
  readonly pendingNames: readonly PendingName[];
  /** Whether the process is in the middle of its last write. */
  readonly inWrite: boolean;
  /** The data of every file: what is on the platter, and the changes that are not. */
  readonly inodes: ReadonlyMap<Inode, InodeState>;
}

/** The data of a file at one moment. */
export type InodeState = Pick<Inode, "durable" | "writes" | "generation">;

/** What was lost: nothing that the system had, or some of what was not flushed. */
export type Loss = "kill" | "power";

/** The files that a crash leaves. */
export interface Image {
  /** How it came to be. */
  readonly label: string;
  /** Whether the process alone died, or the machine. */
  readonly loss: Loss;
  /** Whether what was written later survived what was written before. */
  readonly reordered: boolean;
  /** The files. */
  readonly files: Map<string, Uint8Array>;
  /** The same for images of one disk that hold the same. */
  readonly key: string;
}

/** A page of the system's cache: what is written back in one piece. */
const PAGE = 4096;

/**
 * Makes every image that is told apart: nothing lost; the last write torn; all
 * that was not flushed lost, every prefix of it kept, names or data alone kept,
 * the last write as zeros; a later page kept, an earlier lost.
 *
 * @param snapshot The disk.
 * @param most How many prefixes to make, spread evenly; `Infinity`: each.
 * @returns The images, each once.
 */
export function* imagesOf(
  snapshot: Snapshot,
  most: number = Infinity,
): Generator<Image> {
  const seen = new Set<string>();
  const sequences = sequencesOf(snapshot);
  const last = lastWriteOf(snapshot);
  const grown = last && grownPartOf(snapshot, last);
  const make = function* (
    label: string,
    loss: Loss,
    keepName: (sequence: number) => boolean,
    keepData: (write: Write) => Write | undefined,
    reordered = false,
  ): Generator<Image> {
    const [files, key] = build(snapshot, keepName, keepData, label);
    if (seen.has(key)) return;
    seen.add(key);
    yield { label, loss, reordered, files, key };
  };
  const all = () => true;
  const none = () => false;
  const whole = (write: Write) => write;
  const nothing = () => undefined;

  yield* make("killed", "kill", all, whole);
  if (last) {
    const { length } = last.bytes;
    for (const kept of new Set([1, length >> 1, length - 1])) {
      if (kept < 1 || kept >= length) continue;
      const label = `${kept} of ${length} bytes of the last write`;
      const loss = snapshot.inWrite ? "kill" : "power";
      yield* make(label, loss, all, (write) => torn(write, last, kept));
    }
  }
  yield* make("nothing unflushed", "power", none, nothing);
  yield* make("names alone", "power", all, nothing);
  yield* make("data alone", "power", none, whole);
  const step = Math.max(1, sequences.length / most);
  for (let at = 1; Math.floor(at) < sequences.length; at += step) {
    const end = sequences[Math.floor(at) - 1];
    yield* make(
      `the first ${Math.floor(at)} of ${sequences.length} unflushed changes`,
      "power",
      (sequence) => sequence <= end,
      (write) => write.sequence <= end ? write : undefined,
    );
  }
  if (!last || !grown) return;
  yield* make(
    "zeros for the last write",
    "power",
    all,
    (write) => write === last ? grown : write,
  );
  if (grown.bytes.length > PAGE) {
    yield* make(
      "zeros for the first page of the last write",
      "power",
      all,
      (write) => write === last ? withoutFirstPage(last, grown) : write,
      true,
    );
  }
}

type DataWrite = Write & {
  readonly position: number;
  readonly bytes: Uint8Array;
};

function torn(write: Write, last: DataWrite, kept: number): Write {
  if (write !== last) return write;
  return { ...last, bytes: last.bytes.subarray(0, kept) };
}

/**
 * The part of a write for which the file has grown: the disk may have zeros there.
 * Where something was written before, it has that or the new, page by page.
 */
function grownPartOf(
  { inodes }: Snapshot,
  last: DataWrite,
): DataWrite | undefined {
  let size = 0;
  for (const { durable, writes } of inodes.values()) {
    if (!writes.includes(last)) continue;
    size = durable.length;
    for (const write of writes) {
      if (write === last) continue;
      const { bytes, position = 0 } = write;
      size = bytes ? Math.max(size, position + bytes.length) : write.size!;
    }
  }
  const position = Math.max(last.position, size);
  const length = last.position + last.bytes.length - position;
  if (length <= 0) return undefined;
  return { ...last, position, bytes: new Uint8Array(length) };
}

function withoutFirstPage(write: DataWrite, grown: DataWrite): DataWrite {
  const bytes = write.bytes.slice();
  const start = grown.position - write.position;
  bytes.fill(0, start, start + PAGE - grown.position % PAGE);
  return { ...write, bytes };
}

function sequencesOf({ pendingNames, inodes }: Snapshot): number[] {
  const sequences = pendingNames.map(({ sequence }) => sequence);
  for (const { writes } of inodes.values()) {
    for (const { sequence, state } of writes) {
      if (state !== "flushed") sequences.push(sequence);
    }
  }
  return sequences.sort((one, other) => one - other);
}

/** The last change that was made, if it is a write. */
function lastWriteOf(
  { pendingNames, inodes }: Snapshot,
): DataWrite | undefined {
  let last: Write | undefined;
  for (const { writes } of inodes.values()) {
    const end = writes.at(-1);
    if (end && end.sequence > (last?.sequence ?? 0)) last = end;
  }
  if (!last || (pendingNames.at(-1)?.sequence ?? 0) > last.sequence) return;
  const open = last.bytes && last.state !== "flushed";
  return open ? last as DataWrite : undefined;
}

function build(
  { names, pendingNames, inodes }: Snapshot,
  keepName: (sequence: number) => boolean,
  keepData: (write: Write) => Write | undefined,
  label: string,
): [files: Map<string, Uint8Array>, key: string] {
  const kept = new Map(names);
  for (const one of pendingNames) {
    if (keepName(one.sequence)) applyName(kept, one);
  }
  const files = new Map<string, Uint8Array>();
  const keys: string[] = [];
  for (const [path, inode] of kept) {
    // What is in a folder whose own name is lost is lost with it.
    if (inode.folder || !kept.has(dirname(path))) continue;
    const { durable, writes, generation } = inodes.get(inode)!;
    let bytes = durable;
    const parts: (string | number)[] = [path, inode.id, generation];
    for (const write of writes) {
      const made = write.state === "flushed" ? write : keepData(write);
      if (!made) continue;
      bytes = applyWrite(bytes, made);
      parts.push(made === write ? write.sequence : label);
    }
    files.set(path, bytes);
    keys.push(parts.join());
  }
  return [files, keys.sort().join("\n")];
}
