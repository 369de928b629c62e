import { programOf } from "../../tools/test/runtimes.ts";
import { DenoKvTaskStore } from "../../deno_kv.ts";
import { startChild } from "../support/child.ts";
import { assertAccounted } from "../support/deno_kv_audit.ts";
import { withKvFile } from "../support/deno_kv.ts";
import { assertOneOrder } from "../support/deno_kv_order.ts";
import { describe, it } from "../support/runner.ts";

const CHILD = new URL("../support/deno_kv_child.ts", import.meta.url);
const CHANGES = 60;

describe("DenoKvTaskStore, one file across runtimes", () => {
  it("is written by Deno, Node and Bun at once, in one order for each task", () =>
    withKvFile(async (kv, file) => {
      const runtimes = ["deno", "node22", "node26", "bun"] as const;
      const children = runtimes.map((runtime) => {
        const program = programOf(runtime);
        return startChild(CHILD, {
          args: ["share", file.path, runtime, `${CHANGES}`],
          command: runtime === "deno" ? [program, "run", "-A"] : [program],
        });
      });
      const store = new DenoKvTaskStore(kv);
      await assertOneOrder(children, CHANGES, store);
      await store.sweep();
      await assertAccounted(kv);
    }));
});
