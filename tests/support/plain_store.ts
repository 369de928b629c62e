/** A memory store whose short cuts go the long way, so that an override of `get` or `update` is for all reads or writes. */

import { MemoryTaskStore } from "../../mod.ts";
import { headOf, type TaskHead } from "../../src/model/record.ts";

/** What tests make their slow, broken and counting stores of. */
export class PlainStore extends MemoryTaskStore {
  override async head(
    ...args: Parameters<MemoryTaskStore["head"]>
  ): Promise<TaskHead | undefined> {
    const record = await this.get(...args);
    return record && headOf(record);
  }

  override async commit(
    ...args: Parameters<MemoryTaskStore["commit"]>
  ): Promise<number> {
    return (await this.update(...args)).version;
  }
}
