/** Callers at once over a KV that fails, loses answers, and takes longer than anybody waits. */

import assert from "node:assert/strict";
import type { WorkersKvBinding } from "../../cloudflare.ts";
import { hasErrorCode } from "../../src/errors.ts";
import type { TaskRecord } from "../../mod.ts";
import { openKvStore, stored } from "../support/kv_store.ts";
import { aRecord } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";
import { SimulatedKv, VirtualClock } from "../support/simulated_kv.ts";

const IDS = ["a", "b", "c"];
const CALLERS = 5;
const ROUNDS = 12;

/** A binding whose calls go wrong as often as `random` says. */
function faulty(kv: SimulatedKv, random: () => number): WorkersKvBinding {
  const binding = kv.bind();
  return {
    ...binding,
    async getWithMetadata(...args) {
      if (random() < 0.02) throw new Error("KV GET failed: 500");
      return await binding.getWithMetadata(...args);
    },
    async put(...args) {
      const fault = random();
      if (fault < 0.08) throw new Error("KV PUT failed: 500");
      if (fault < 0.25) {
        if (fault >= 0.16) await kv.clock.wait(31_000 + random() * 30_000);
        await binding.put(...args);
        if (fault < 0.22) return;
        throw new Error("KV PUT failed: 400");
      }
      if (fault < 0.4) await kv.clock.wait(random() * 3_000);
      await binding.put(...args);
    },
  };
}

/** What was acknowledged, and whether what is read agrees with it. */
class Acknowledged {
  readonly #messages: Map<string, string> = new Map();
  readonly #newest: Map<string, number> = new Map();

  newest(taskId: string): number {
    return this.#newest.get(taskId) ?? 1;
  }

  add({ taskId, version, statusMessage }: TaskRecord): void {
    const name = `${taskId} ${version}`;
    assert.ok(!this.#messages.has(name), `two writers got ${name}`);
    this.#messages.set(name, statusMessage!);
    this.#newest.set(taskId, Math.max(this.newest(taskId), version));
  }

  check(record: TaskRecord, since: number): void {
    const { taskId, version, statusMessage } = record;
    assert.ok(version >= since, `${taskId} ${version}, after ${since}`);
    const written = this.#messages.get(`${taskId} ${version}`);
    assert.equal(statusMessage, written ?? statusMessage);
  }
}

async function run(seed: number): Promise<void> {
  const chance = new VirtualClock(seed);
  const random = () => chance.random();
  const kv = new SimulatedKv(new VirtualClock(seed));
  let isFaulty = false;
  const store = openKvStore(kv, {
    binding: faulty(kv, () => isFaulty ? random() : 1),
    limits: seed % 2 ? {} : { maxTextLength: 1_200 },
  });
  for (const taskId of IDS) await store.create(aRecord(taskId));
  const acknowledged = new Acknowledged();
  isFaulty = true;
  let count = 0;
  const work = async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const taskId = IDS[Math.floor(random() * IDS.length)];
      try {
        const since = acknowledged.newest(taskId);
        let record = (await store.get(taskId))!;
        acknowledged.check(record, since);
        for (let writes = 0; writes < 1 + 3 * random(); writes++) {
          const statusMessage = `${++count}`;
          const { version } = record;
          record = await store.update(taskId, { statusMessage }, version);
          assert.equal(record.version, version + 1);
          acknowledged.add(record);
        }
      } catch (error) {
        const isRefusal = hasErrorCode(error, "ERR_CONCURRENT_UPDATE") ||
          hasErrorCode(error, "ERR_STORE_FAILED");
        if (!isRefusal) throw error;
      }
      if (random() < 0.3) await kv.clock.wait(20_000 * random());
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, work));
  isFaulty = false;
  await kv.clock.advance(70_000);
  const other = openKvStore(kv);
  for (const taskId of IDS) {
    const since = acknowledged.newest(taskId);
    acknowledged.check(stored(kv, taskId) as unknown as TaskRecord, since);
    acknowledged.check((await other.get(taskId))!, since);
  }
  await store.close();
}

describe("WorkersKvTaskStore over a KV that fails", () => {
  for (const seed of [4, 9, 29, 39, 42, 44, 100, 101]) {
    it(`loses nothing that was acknowledged, and lets one writer win (seed ${seed})`, () =>
      run(seed));
  }
});
