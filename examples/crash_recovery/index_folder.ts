/** Indexes a folder of files: the work that the demo interrupts. */

import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** A name of several words, such as `readFolder`: somebody made it up. */
const COMPOUND_NAME = /\b[A-Za-z]+[a-z][A-Z]\w*/g;

/** What is known of a folder after it was read. */
export interface FolderIndex {
  /** Number of files. */
  readonly files: number;
  /** Number of lines in them. */
  readonly lines: number;
  /** Number of bytes in them. */
  readonly bytes: number;
  /** Identifiers by extension, with how often each is there. */
  readonly identifiers: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** How to read. */
export interface ReadOptions {
  /** The pause after each file, in milliseconds, so that a person can watch. */
  readonly paceMs: number;
  /** How many files are to be read without a pause, since they were before. */
  readonly skip: number;
  /** Ends the reading. */
  readonly signal: AbortSignal;
  /** Hears of each file after the skipped ones. */
  readonly onFile: (done: number, of: number, path: string) => Promise<void>;
}

/**
 * Reads every file of a folder, in an order that is always the same.
 *
 * @param folder The folder.
 * @param options How.
 * @returns The index.
 */
export async function readFolder(
  folder: string,
  options: ReadOptions,
): Promise<FolderIndex> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const identifiers = new Map<string, Map<string, number>>();
  let lines = 0;
  let bytes = 0;
  for (const [index, path] of paths.entries()) {
    options.signal.throwIfAborted();
    const content = readFileSync(path);
    const text = content.toString("utf8");
    bytes += content.length;
    lines += text.split("\n").length - 1;
    const counts = identifiers.get(extname(path)) ?? new Map<string, number>();
    identifiers.set(extname(path), counts);
    for (const name of text.match(COMPOUND_NAME) ?? []) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    if (index < options.skip) continue;
    const name = path.slice(folder.length + 1);
    await options.onFile(index + 1, paths.length, name);
    await pause(options.paceMs, undefined, { signal: options.signal });
  }
  return { files: paths.length, lines, bytes, identifiers };
}

/**
 * Ranks the identifiers of one extension.
 *
 * @param index The index.
 * @param extension The extension.
 * @returns The five that are there most often.
 */
export function rank(index: FolderIndex, extension: string): readonly string[] {
  return [...index.identifiers.get(extension) ?? []]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .slice(0, 5)
    .map(([word]) => word);
}
