/** Judges what several processes of `deno_kv_child.ts share` have done together. */

import assert from "node:assert/strict";
import type { DenoKvTaskStore } from "../../deno_kv.ts";
import type { Child } from "./child.ts";

/** What the processes write into a task. */
interface Shared {
  readonly version: number;
  /** Who made each version, in order. */
  readonly marks: readonly string[];
  readonly result?: { readonly mark: string; readonly text: string };
}

/**
 * Asserts that of each task every version was made once, by one process, on top
 * of the one before, and that nothing which was acknowledged is lost.
 *
 * @param children The processes.
 * @param changes How many changes each was to make.
 * @param store A store on the same data.
 */
export async function assertOneOrder(
  children: readonly Child[],
  changes: number,
  store: DenoKvTaskStore,
): Promise<void> {
  const made = new Map<string, string[]>();
  for (const child of children) {
    const { code } = await child.exited;
    assert.equal(code, 0, child.stderr());
    assert.equal(child.lines.at(-1), "done");
    assert.equal(child.lines.length, changes + 1);
    for (const line of child.lines.slice(0, -1)) {
      const [, word, number, version, mark] = line.split(" ");
      const taskId = `${word} ${number}`;
      const marks = made.get(taskId) ?? [];
      made.set(taskId, marks);
      const index = Number(version) - 1;
      assert.equal(marks[index], undefined, `${taskId} ${version} twice`);
      marks[index] = mark;
    }
  }
  assert.ok(made.size > 1);
  for (const [taskId, marks] of made) {
    const task = await store.get(taskId) as unknown as Shared;
    assert.deepEqual(task.marks, marks, taskId);
    assert.equal(task.version, marks.length);
    const writers = new Set(marks.map((mark) => mark.split(":")[0]));
    assert.equal(writers.size, children.length, `${taskId} by all of them`);
    if (!task.result) continue;
    const { mark, text } = task.result;
    assert.ok(marks.includes(mark));
    assert.equal(text, `漢 ${mark} `.repeat(10_000));
  }
}
