import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TaskStoreFixture } from "@mcp-durable/tasks/testing";
import { TableTaskStore } from "./table_task_store.ts";

/** A new store over a new file, with all that the kit can ask for. */
export function makeFixture(): TaskStoreFixture {
  const dir = mkdtempSync(join(tmpdir(), "own-store-"));
  let skewMs = 0;
  const open = () =>
    new TableTaskStore(join(dir, "tasks.db"), () => Date.now() + skewMs);
  return {
    store: open(),
    reopen: open,
    secondInstance: open,
    advanceTime: (ms) => {
      skewMs += ms;
    },
    dispose: () => rmSync(dir, { recursive: true }),
  };
}
