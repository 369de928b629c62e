/** The store in a Durable Object of a workerd that is killed, with its state on disk. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Server, serveWorker } from "../../tools/conformance/servers.ts";
import type {
  ObjectCommand,
  ObjectState,
} from "../support/durable_object_worker.ts";
import { describe, it } from "../support/runner.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const source = join(root, "tests/support/durable_object_worker.ts");
const config = {
  name: "writer",
  compatibility_date: "2026-10-01",
  durable_objects: { bindings: [{ name: "OBJECT", class_name: "Writer" }] },
  migrations: [{ tag: "v1", new_sqlite_classes: ["Writer"] }],
};

const WRITERS = 6;
/** After how long workerd is killed, from its first write: in the middle of others each time. */
const KILL_AFTER_MS = [90, 170, 240];

async function withFolder(body: (folder: string) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), "durable-object-"));
  try {
    await body(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function send(
  { url }: Server,
  command: ObjectCommand,
): Promise<ObjectState> {
  const response = await fetch(url, {
    method: "POST",
    body: JSON.stringify(command),
  });
  assert.equal(response.status, 200, await response.clone().text());
  return await response.json();
}

describe("DurableObjectTaskStore in a workerd that is killed", () => {
  it("has every acknowledged version again, whole, and no part too many", () =>
    withFolder(async (folder) => {
      const acknowledged = new Map<string, number>();
      const attempted = new Map<string, number>();
      for (const [round, killAfterMs] of KILL_AFTER_MS.entries()) {
        const server = await serveWorker(root, source, config, folder);
        let killed = false;
        const begun = Promise.withResolvers<void>();
        const writers = Array.from({ length: WRITERS }, async (_, writer) => {
          const taskId = `${round}-${writer}`;
          try {
            attempted.set(taskId, 1);
            await send(server, { do: "create", taskId });
            for (let version = 1;; version++) {
              acknowledged.set(taskId, version);
              begun.resolve();
              attempted.set(taskId, version + 1);
              await send(server, { do: "write", taskId, version });
            }
          } catch (error) {
            if (!killed) throw error;
          }
        });
        await Promise.race([begun.promise, Promise.all(writers)]);
        await pause(killAfterMs);
        killed = true;
        assert.equal(await server.stop(), undefined, server.stderr());
        await Promise.all(writers);
      }
      const server = await serveWorker(root, source, config, folder);
      try {
        const taskIds = [...attempted.keys()];
        const state = await send(server, { do: "look", taskIds });
        assert.deepEqual(state.torn, []);
        for (const [taskId, version] of attempted) {
          const found = state.versions[taskId] ?? 0;
          const least = acknowledged.get(taskId) ?? 0;
          assert.ok(
            found >= least && found <= version,
            `${taskId}: ${found} is there, ${least} was acknowledged`,
          );
        }
        // An entry and three parts for each task, and nothing else.
        assert.equal(state.keys, 4 * Object.keys(state.versions).length);
        const writes = [...acknowledged.values()].reduce((a, b) => a + b, 0);
        assert.ok(writes > WRITERS, `${writes} writes`);
      } finally {
        await server.stop();
      }
    }));

  it("is woken by its alarm again, without a call from anybody", () =>
    withFolder(async (folder) => {
      const first = await serveWorker(root, source, config, folder);
      // Long enough for the first to be gone by then.
      await send(first, { do: "wake", inMs: 4_000 });
      await first.stop();
      const stoppedAt = Date.now();
      const second = await serveWorker(root, source, config, folder);
      try {
        // Not by a call: that would wake the object too.
        while (!second.stderr().includes("the alarm rang")) await pause(20);
        const askedAt = Date.now();
        const { rangAt } = await send(second, { do: "look", taskIds: [] });
        assert.ok(
          rangAt !== undefined && rangAt > stoppedAt && rangAt <= askedAt,
          `it rang at ${rangAt}, after ${stoppedAt} and before ${askedAt}`,
        );
      } finally {
        await second.stop();
      }
    }));
});
