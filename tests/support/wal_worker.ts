/** A worker thread that opens the directory of its `workerData`, if it is free, and posts `opened` or the code of the error. */

import { parentPort, workerData } from "node:worker_threads";
import { WalTaskStore } from "../../wal.ts";

try {
  const store = await WalTaskStore.open({ dir: workerData, lockTimeoutMs: 0 });
  await store.close();
  parentPort!.postMessage("opened");
} catch (error) {
  parentPort!.postMessage((error as { code?: string }).code ?? `${error}`);
}
