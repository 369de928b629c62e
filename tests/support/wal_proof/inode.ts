/** What a {@linkcode SimDisk} keeps of files and of their names. */

/** A change of a file's data. */
export interface Write {
  /** Where it stands among all changes of the disk. */
  readonly sequence: number;
  /** Whether it is on the platter; "lost": a flush of it has failed, and no later one of this process writes it. */
  readonly state: "pending" | "flushed" | "lost";
  /** Where the bytes go. */
  readonly position?: number;
  /** The bytes that are written; absent: the file is cut. */
  readonly bytes?: Uint8Array;
  /** The size to which the file is cut. */
  readonly size?: number;
}

/** A file or a folder, whatever its names. */
export interface Inode {
  /** Tells it from the others. */
  readonly id: number;
  /** Whether it is a folder: then it has no data. */
  readonly folder: boolean;
  /** What programs see. It is replaced, never changed in place. */
  bytes: Uint8Array;
  /** What is on the platter for certain. */
  durable: Uint8Array;
  /** What leads from there to what programs see, in order. */
  writes: readonly Write[];
  /** Counts the flushes. */
  generation: number;
}

/** The names, by path. */
export type Names = Map<string, Inode>;

/** A change of names that no flush of the folder has covered yet. */
export interface PendingName {
  /** Where it stands among all changes of the disk. */
  readonly sequence: number;
  /** The name. */
  readonly path: string;
  /** What it stands for now; absent: nothing. */
  readonly link?: Inode;
  /** The name that is gone, in the same step. */
  readonly removed?: string;
}

/**
 * Makes a file or a folder that is on the platter.
 *
 * @param id Tells it from the others.
 * @param bytes Its data.
 * @param folder Whether it is a folder.
 * @returns The file.
 */
export function makeInode(
  id: number,
  bytes: Uint8Array,
  folder = false,
): Inode {
  return { id, folder, bytes, durable: bytes, writes: [], generation: 0 };
}

/**
 * Says what became of some changes of a file's data.
 *
 * @param inode The file.
 * @param state What became of them.
 * @param affected Which.
 */
export function settleWrites(
  inode: Inode,
  state: "flushed" | "lost",
  affected: ReadonlySet<number>,
): void {
  const writes = inode.writes.map((one) =>
    affected.has(one.sequence) ? { ...one, state } : one
  );
  while (writes[0]?.state === "flushed") {
    inode.durable = applyWrite(inode.durable, writes.shift()!);
  }
  inode.writes = writes;
  inode.generation++;
}

/**
 * The system tries again to write what it could not.
 *
 * @param inode The file.
 */
export function retryLost(inode: Inode): void {
  inode.writes = inode.writes.map((one) =>
    one.state === "lost" ? { ...one, state: "pending" } : one
  );
}

/**
 * Tells which changes of a file's data a flush would write.
 *
 * @param inode The file.
 * @returns Their sequence numbers.
 */
export function pendingOf({ writes }: Inode): number[] {
  return writes.filter(({ state }) => state === "pending")
    .map(({ sequence }) => sequence);
}

/**
 * Makes a change of names.
 *
 * @param names The names, changed in place.
 * @param change The change.
 */
export function applyName(
  names: Names,
  { path, link, removed }: PendingName,
): void {
  if (removed !== undefined) names.delete(removed);
  if (link) names.set(path, link);
}

/**
 * Makes a change of a file's data.
 *
 * @param before The data.
 * @param write The change.
 * @returns The data after it, in an array of its own.
 */
export function applyWrite(before: Uint8Array, write: Write): Uint8Array {
  const { bytes, position = 0, size } = write;
  const length = bytes
    ? Math.max(before.length, position + bytes.length)
    : size!;
  const after = new Uint8Array(length);
  after.set(before.subarray(0, length));
  if (bytes) after.set(bytes, position);
  return after;
}
