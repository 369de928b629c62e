import { keepBusy } from "../../tests/support/wal_proof/bounds.ts";
import { randomOf } from "../../tests/support/wal_proof/script.ts";
import type { Part } from "./part.ts";

const OPERATIONS = 1_000_000;
const SLACK_BYTES = 32 * 1024 * 1024;

/** Keeps a store busy for 10^6 operations with expiry. */
export const soakBounds: Part = async ({ dir, seed, say }) => {
  const report = await keepBusy({
    dir,
    fsync: false,
    operations: OPERATIONS,
    random: randomOf(seed),
    memorySlack: SLACK_BYTES,
  });
  const { operations, looks, fullest, handles, heap, resident } = report;
  say(
    `${operations} operations, ${looks} looks: the disk took up to ${
      fullest.toFixed(2)
    } of its bound, ${handles} files were open at most, heap ${
      heap.map(mebibytes)
    } and process ${
      resident.map(mebibytes)
    } MiB after the first half and at the end`,
  );
  return report.violations;
};

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
