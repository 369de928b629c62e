/** Opens a store in the directory that is its argument, and writes how that went. */

import process from "node:process";
import { WalTaskStore } from "../../wal.ts";

try {
  const store = await WalTaskStore.open({ dir: process.argv[2] });
  await store.close();
  console.log("opened");
} catch (error) {
  const { code, message } = error as Error & { code?: string };
  console.log(code, message);
}
