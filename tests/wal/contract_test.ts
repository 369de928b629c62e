import { join } from "node:path";
import { WalTaskStore } from "../../wal.ts";
import { describeStoreContract } from "../support/store_contract.ts";
import { makeTempDir, removeDir } from "../support/wal_dir.ts";

for (const options of [{}, { fsync: true }, { compactEvery: 3 }]) {
  describeStoreContract(`WalTaskStore ${JSON.stringify(options)}`, () => {
    const parent = makeTempDir();
    const dir = join(parent, "not", "there yet");
    return {
      open: (now) => new WalTaskStore({ dir, now, ...options }),
      remove: () => removeDir(parent),
      durable: true,
    };
  });
}
