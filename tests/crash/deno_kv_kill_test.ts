import assert from "node:assert/strict";
import { DenoKvTaskStore } from "../../deno_kv.ts";
import { startChild } from "../support/child.ts";
import { assertAccounted } from "../support/deno_kv_audit.ts";
import { keysOf, withKvFile } from "../support/deno_kv.ts";
import { recordOf } from "../support/deno_kv_history.ts";
import { describe, it, runtime } from "../support/runner.ts";
import { historyOf } from "../support/wal_history.ts";

const CHILD = new URL("../support/deno_kv_child.ts", import.meta.url);
const KILLS = runtime === "deno" ? 10 : 4;
/** Kills are added until one comes between parts and their record. */
const MOST_KILLS = 150;

/** What is known of a task from outside: 0 stands for its deletion. */
interface Known {
  issued: number;
  acknowledged?: number;
}

describe("DenoKvTaskStore, kill -9", () => {
  it(`at ${KILLS} moments leaves old records or new ones, never a mix, and no parts for good`, () =>
    withKvFile(async (kv, file) => {
      const known = new Map<string, Known>();
      let abandoned = 0;
      let found = 0;
      const store = new DenoKvTaskStore(kv);
      const later = new DenoKvTaskStore(kv, {
        now: () => Date.now() + 700_000,
      });
      for (
        let kill = 0;
        kill < KILLS || abandoned === 0 && kill < MOST_KILLS;
        kill++
      ) {
        const child = startChild(CHILD, {
          args: ["run", file.path, `run${kill}`],
        });
        const lines = 5 + Math.floor(Math.random() * 250);
        await child.line(() => child.lines.length >= lines);
        // Not always between two lines.
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 9));
        const { signal } = await child.kill();
        assert.equal(signal, "SIGKILL", child.stderr());
        for (const line of child.lines) note(known, line);

        for (const [taskId, state] of known) {
          const about = `kill ${kill} after ${lines} lines, ${taskId}`;
          const record = await store.get(taskId, 0);
          const version = record?.version ?? 0;
          assert.ok(
            isPossible(taskId, state, version),
            `${about}: ${JSON.stringify(state)}, found ${version}`,
          );
          if (record) {
            assert.deepEqual(record, recordOf(taskId, version), about);
          }
          known.set(taskId, { issued: version, acknowledged: version });
        }
        const before = await keysOf(kv);
        abandoned += before.filter((key) => key.includes('"manifest"')).length;
        assert.equal(await later.sweep(0), 0);
        ({ records: found } = await assertAccounted(kv));
      }
      const versions = [...known.values()].map(({ issued }) => issued);
      assert.equal(found, versions.filter((version) => version > 0).length);
      assert.ok(found > KILLS && found < known.size);
      assert.ok(abandoned > 0, "no kill came between parts and their record");
    }));
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
  const last = issued === 0 ? expiring! : issued;
  if (version === 0) {
    // Anybody's sweep may have taken it as soon as it could expire.
    return acknowledged === undefined || acknowledged === 0 ||
      last === expiring;
  }
  return acknowledged !== 0 && version <= last &&
    version >= (acknowledged ?? 1);
}
