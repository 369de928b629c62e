/**
 * A worker thread that opens the directory of its `workerData`, if it is free, and posts `opened`
 * or the code of the error. With `hold` it waits for it, makes a task, posts `held`, and closes it on a message.
 */

import { parentPort, workerData } from "node:worker_threads";
import { WalTaskStore } from "../../wal.ts";
import { aRecord } from "./records.ts";

const { dir, hold } = workerData as { dir: string; hold?: boolean };
if (hold) {
  const store = await WalTaskStore.open({ dir, lockTimeoutMs: 60_000 });
  if (!await store.get("of the thread")) {
    await store.create(aRecord("of the thread"));
  }
  parentPort!.once("message", async () => {
    await store.close();
    parentPort!.postMessage("closed");
  });
  parentPort!.postMessage("held");
} else {
  try {
    const store = await WalTaskStore.open({ dir, lockTimeoutMs: 0 });
    await store.close();
    parentPort!.postMessage("opened");
  } catch (error) {
    parentPort!.postMessage((error as { code?: string }).code ?? `${error}`);
  }
}
