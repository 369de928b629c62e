/** Reads a directory when it is opened. */

import { join } from "node:path";
import { Damage, type Damages } from "./damage.ts";
import type { Disk, DiskFile } from "./disk.ts";
import type { FoundLog } from "./log.ts";
import { LEAST_ENTRY_BYTES } from "./frame.ts";
import { Replay } from "./replay.ts";
import type { Reader } from "./reader.ts";
import { rewrite } from "./rewrite.ts";
import { type DamageItem, SegmentScan, writtenSize } from "./scan.ts";
import {
  checkHeader,
  findSegments,
  type Segment,
  segmentName,
} from "./segment.ts";
import type { TaskState } from "./task_state.ts";

/** What a directory holds. */
export interface OpenedLog {
  /** Its files. */
  readonly found: FoundLog;
  /** The tasks. */
  readonly states: Map<string, TaskState>;
}

/** What is known when the next segment is read. */
interface Progress {
  /** The sequence number of the entry that comes next; 0: any. */
  expected: number;
  /** The oldest segment, as far as the log says. */
  oldest: number;
  /** Damage up to the end of the segment before. */
  open?: { readonly item: DamageItem; readonly segment: Segment } | undefined;
}

/**
 * Reads every segment of a directory. It cuts a torn tail and flushes the last
 * segment, and writes nothing new.
 *
 * @param dir The directory.
 * @param disk The file system.
 * @param reader Reads what was found before.
 * @param damages Takes what is damaged.
 * @returns What is there.
 */
export async function readLog(
  dir: string,
  disk: Disk,
  reader: Reader,
  damages: Damages,
): Promise<OpenedLog> {
  const segments = findSegments(dir, disk.list(dir));
  const replay = new Replay(reader, damages);
  const progress: Progress = { expected: 0, oldest: 0 };
  let isLastOpen = false;
  for (const segment of [...segments]) {
    const isLast = segment === segments.at(-1);
    const file = isLast
      ? disk.open(segment.path)
      : disk.openToRead(segment.path);
    // For what the replay reads back: it opens no second one.
    segment.file = file;
    try {
      segment.size = isLast ? await writtenSize(file) : file.size();
      const known = damages.all.length;
      const end = await replaySegment(segment, file, isLast, replay, progress);
      if (!isLast) continue;
      if (end === 0) {
        // Its first line was cut short: it is made anew.
        segments.pop();
      } else {
        if (file.size() > end) file.truncate(end);
        segment.size = end;
        // What is served from now on is not lost any more, and what was cut does
        // not come back: a process that was killed may have left it unflushed.
        await rewrite(file, 0, end);
        await file.sync();
        isLastOpen = damages.all.length === known;
      }
    } finally {
      if (!isLastOpen) {
        segment.file = undefined;
        file.close();
      }
    }
  }
  replay.finish();
  if (segments.length > 0 && segments[0].number > progress.oldest) {
    noteMissing(dir, progress.oldest, damages);
  }
  return {
    found: {
      segments,
      isLastOpen,
      nextSequence: Math.max(1, progress.expected),
    },
    states: replay.states,
  };
}

/** @returns Where its entries end. */
async function replaySegment(
  segment: Segment,
  file: DiskFile,
  isLast: boolean,
  replay: Replay,
  progress: Progress,
): Promise<number> {
  const { expected } = progress;
  const scan = new SegmentScan(file, segment.size, expected, isLast);
  for (;;) {
    const item = scan.step();
    if (!item) {
      await scan.fill();
      continue;
    }
    if (item.type === "end") {
      progress.expected = scan.expected;
      return item.offset;
    }
    if (item.type === "damage") {
      const { open } = progress;
      if (open && item.offset === 0 && item.bytes === 0) {
        // Now it is known how many entries it has taken.
        replay.damage({ ...open.item, lost: item.lost }, open.segment);
      } else replay.damage(item, segment);
      progress.open = item.offset + item.bytes === segment.size
        ? { item, segment }
        : undefined;
      // More entries than these bytes hold cannot be lost.
      if (item.lost === undefined) {
        scan.expected += 1 + Math.ceil(item.bytes / LEAST_ENTRY_BYTES);
      }
      continue;
    }
    progress.open = undefined;
    const { head, bodyAt } = item;
    const small = () =>
      scan.buffer.toString("utf8", bodyAt, bodyAt + head.smallBytes);
    if (head.kind === "h") checkHeader(small(), segment.path);
    if (head.kind === "h" || head.kind === "o") {
      // A segment that was begun before an older one had gone still names that.
      progress.oldest = Math.max(progress.oldest, head.version);
    } else replay.entry(item, segment, small);
  }
}

function noteMissing(dir: string, oldest: number, damages: Damages): void {
  damages.add(
    new Damage({
      file: join(dir, segmentName(oldest)),
      offset: 0,
      bytes: 0,
      reason: "the file is missing",
    }),
  );
}
