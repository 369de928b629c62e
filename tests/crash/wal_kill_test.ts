import assert from "node:assert/strict";
import { join } from "node:path";
import { realDisk } from "../../src/wal/disk.ts";
import { Replay } from "../../src/wal/replay.ts";
import { scanLog } from "../../src/wal/scan.ts";
import { WalTaskStore } from "../../wal.ts";
import { startChild } from "../support/child.ts";
import { describe, it } from "../support/runner.ts";
import { withTempDir } from "../support/wal_dir.ts";
import { historyOf, recordOf } from "../support/wal_history.ts";

const CHILD = new URL("../support/wal_child.ts", import.meta.url);
const KILLS = 12;

/** What is known of a task from outside: 0 stands for its deletion. */
interface Known {
  issued: number;
  acknowledged?: number;
}

describe("WalTaskStore, kill -9", () => {
  for (const fsync of [false, true]) {
    it(`at ${KILLS} moments loses nothing and invents nothing, fsync ${fsync}`, () =>
      withTempDir(async (dir) => {
        const known = new Map<string, Known>();
        let deletions = 0;
        for (let kill = 0; kill < KILLS; kill++) {
          const args = ["run", dir, `${fsync}`, `run${kill}`];
          const child = startChild(CHILD, { args });
          // The first only says that it is opening.
          const lines = kill % 4 === 3
            ? 1
            : 2 + Math.floor(Math.random() * 2_000);
          await child.line(() => child.lines.length >= lines);
          const { signal } = await child.kill();
          assert.equal(signal, "SIGKILL", child.stderr());
          for (const line of child.lines.slice(1)) note(known, line);

          const store = await WalTaskStore.open({ dir, lockTimeoutMs: 0 });
          for (const [taskId, state] of known) {
            const about = `kill ${kill} after ${lines} lines, ${taskId}`;
            const version = (await store.get(taskId, 0))?.version ?? 0;
            assert.ok(
              isPossible(taskId, state, version),
              `${about}: ${JSON.stringify(state)}, found ${version}`,
            );
            if (version > 0) {
              const expected = recordOf(taskId, version);
              assert.deepEqual(await store.get(taskId, 0), expected, about);
            } else if (state.acknowledged === 0) deletions++;
            // From now on it stays as it is.
            known.set(taskId, { issued: version, acknowledged: version });
          }
          await store.close();
          for (const taskId of await idsInLog(dir)) {
            assert.ok(known.has(taskId), `nobody has created ${taskId}`);
          }
        }
        const versions = [...known.values()].map(({ issued }) => issued);
        assert.ok(versions.filter((version) => version > 1).length > 50);
        assert.ok(deletions > 50, `${deletions} deletions`);
      }));
  }
});

function note(known: Map<string, Known>, line: string): void {
  const [what, prefix, number, version] = line.split(" ");
  const taskId = `${prefix} ${number}`;
  const state = known.get(taskId) ?? { issued: 0 };
  known.set(taskId, state);
  state[what as "issued" | "acknowledged"] = Number(version);
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

async function idsInLog(dir: string): Promise<Iterable<string>> {
  const path = join(dir, "tasks.log");
  const file = realDisk.open(path);
  try {
    const replay = new Replay(path);
    await scanLog(file, path, (body, offset) => {
      if (offset > 0) replay.apply(body, offset);
    });
    return replay.finish().keys();
  } finally {
    file.close();
  }
}
