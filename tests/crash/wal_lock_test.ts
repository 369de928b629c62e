import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { WalTaskStore } from "../../wal.ts";
import { startChild } from "../support/child.ts";
import { aRecord } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";
import { withTempDir } from "../support/wal_dir.ts";

const CHILD = new URL("../support/wal_child.ts", import.meta.url);
const WORKER = new URL("../support/wal_worker.ts", import.meta.url);

/** Opens a directory in another process. */
async function openElsewhere(dir: string): Promise<string> {
  const child = startChild(CHILD, { args: ["try", dir, "0"] });
  const { code } = await child.exited;
  assert.equal(code, 0, child.stderr());
  return child.lines[0].split(" ")[0];
}

/** Opens a directory in a thread. */
async function openInThread(dir: string): Promise<string> {
  const worker = new Worker(WORKER, { workerData: { dir } });
  const ended = once(worker, "exit");
  const [answer] = await once(worker, "message");
  await worker.terminate();
  await ended;
  return answer;
}

/** What is in the files of the log. */
function logIn(dir: string): string[] {
  const names = readdirSync(dir).filter((name) => name.endsWith(".log"));
  assert.ok(names.length > 0);
  return names.map((name) => readFileSync(join(dir, name), "utf8"));
}

describe("WalTaskStore, one writer across processes", () => {
  it("refuses another process and a thread, and the log stays as it is", () =>
    withTempDir(async (dir) => {
      const store = await WalTaskStore.open({ dir });
      await store.create(aRecord("a"));
      const before = logIn(dir);
      for (let i = 0; i < 2; i++) {
        assert.equal(await openInThread(dir), "ERR_STORE_LOCKED");
        assert.equal(await openElsewhere(dir), "ERR_STORE_LOCKED");
      }
      assert.deepEqual(logIn(dir), before);
      await store.update("a", { statusMessage: "mine" }, 1);
      await store.close();
      assert.equal(await openInThread(dir), "opened");
      assert.equal(await openElsewhere(dir), "opened");
    }));

  it("names the directory that another process holds, and opens it at once after kill -9", () =>
    withTempDir(async (dir) => {
      for (let i = 0; i < 3; i++) {
        const child = startChild(CHILD, { args: ["hold", dir] });
        await child.line((line) => line === "created");
        const error = await WalTaskStore.open({ dir, lockTimeoutMs: 30 })
          .catch((error) => error);
        assert.equal(error.code, "ERR_STORE_LOCKED");
        assert.equal(error.dir, dir);
        await child.kill();
        const store = await WalTaskStore.open({ dir, lockTimeoutMs: 0 });
        await store.create(aRecord(`task ${i}`));
        await store.close();
      }
    }));

  it("a thread that holds it keeps this one out, until it closes or is terminated", () =>
    withTempDir(async (dir) => {
      for (const end of ["close", "terminate"]) {
        const worker = new Worker(WORKER, { workerData: { dir, hold: true } });
        const ended = once(worker, "exit");
        const [answer] = await once(worker, "message");
        assert.equal(answer, "held");
        const refused = await WalTaskStore.open({ dir, lockTimeoutMs: 30 })
          .catch((error) => error);
        assert.equal(refused.code, "ERR_STORE_LOCKED");
        const waiting = WalTaskStore.open({ dir, lockTimeoutMs: 60_000 });
        if (end === "close") worker.postMessage("close");
        else await worker.terminate();
        const store = await waiting;
        await worker.terminate();
        assert.ok(await store.get("of the thread"));
        await store.create(aRecord(end));
        await store.close();
        await ended;
      }
    }));

  it("waits for another process to close", () =>
    withTempDir(async (dir) => {
      const child = startChild(CHILD, { args: ["hold", dir] });
      await child.line((line) => line === "created");
      const store = new WalTaskStore({ dir, lockTimeoutMs: 60_000 });
      const created = store.create(aRecord("a"));
      child.send("close");
      await created;
      await child.exited;
      assert.equal(child.lines.at(-1), "closed");
      await store.close();
    }));
});
