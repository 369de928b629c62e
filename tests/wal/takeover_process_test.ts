/**
 * Real processes: an old one that never stops to write, and new ones that take
 * its directory over and are killed, most of them in the middle of it.
 *
 * `TAKEOVER_KILLS` says how many.
 */

import assert from "node:assert/strict";
import process from "node:process";
import { WalTaskStore } from "../../wal.ts";
import { type Child, startChild } from "../support/child.ts";
import { SHARED, stateOf } from "../support/process_wal_child.ts";
import { OldProcess } from "../support/process_wal_old.ts";
import { describe, it } from "../support/runner.ts";
import { withTempDir } from "../support/wal_dir.ts";

const KILLS = Number(process.env.TAKEOVER_KILLS ?? 4);
const CHILD = new URL("../support/process_wal_child.ts", import.meta.url);

/** What the processes have said of their tasks. */
class Ledger {
  readonly issued = new Map<string, number>();
  readonly acknowledged = new Map<string, number>();

  note({ lines }: Child): void {
    for (const line of lines) {
      const said = /^(issued|acknowledged) (.+) (\d+)$/.exec(line);
      if (!said) continue;
      const [, what, taskId, version] = said;
      this[what as "issued" | "acknowledged"].set(taskId, Number(version));
    }
  }
}

/** Starts one new process after the other. Some are killed in the takeover, some behind it. */
async function takeOverAndDie(dir: string, ledger: Ledger): Promise<void> {
  let opened = 0;
  for (let number = 0; number < KILLS; number++) {
    const child = startChild(CHILD, { args: ["new", dir, `new ${number}`] });
    try {
      const isLate = number % 3 === 2;
      await child.line((line) =>
        isLate ? line.startsWith("acknowledged") : line === "opening"
      );
      const delay = isLate ? 300 : number * 37 % 150;
      await new Promise((resolve) => setTimeout(resolve, delay));
    } finally {
      await child.kill();
    }
    if (child.lines.includes("open")) opened++;
    ledger.note(child);
  }
  assert.ok(opened > 0, "no process got to the end of the takeover");
}

describe("WalTaskStore taking over from a process that goes on", () => {
  it(`loses nothing of what either has acknowledged, through ${KILLS} kills`, () =>
    withTempDir(async (dir) => {
      const ledger = new Ledger();
      const old = startChild(CHILD, { args: ["old", dir, "old"] });
      try {
        await old.line((line) => line === "ready");
        await takeOverAndDie(dir, ledger);
      } finally {
        await old.kill();
      }
      ledger.note(old);

      const store = await WalTaskStore.open({ dir });
      for (let number = 0; number < SHARED; number++) {
        const taskId = `shared ${number}`;
        if (!ledger.issued.has(taskId)) ledger.issued.set(taskId, 0);
        ledger.acknowledged.set(taskId, ledger.acknowledged.get(taskId) ?? 0);
      }
      assert.ok(ledger.acknowledged.size > SHARED + 7);
      for (const [taskId, issued] of ledger.issued) {
        const found = await store.get(taskId);
        const least = ledger.acknowledged.get(taskId) ?? -1;
        const version = found?.version ?? -1;
        const range = `${taskId} at ${version}, ${least} to ${issued}`;
        assert.ok(version >= least && version <= issued, range);
        if (found) assert.deepEqual(found, stateOf(taskId, version));
      }
      assert.deepEqual((await store.health()).damage, []);
      await store.close();
    }));

  it("does not keep a process alive that has nothing more to do", () =>
    withTempDir(async (dir) => {
      new OldProcess(dir).wal.close();
      const child = startChild(CHILD, { args: ["leave", dir] });
      assert.deepEqual(await child.exited, { code: 0, signal: null });
      assert.deepEqual(child.lines, ["open"]);
    }));
});
