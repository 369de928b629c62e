/** Faults of `watch()`. */

import type { TaskPatch } from "../../../mod.ts";
import { broken, type BrokenStore } from "./fault.ts";
import { SoundStore } from "./sound_store.ts";

/** Who watches a record. */
interface Watcher {
  readonly taskId: string;
  readonly changed: () => void;
}

/** A sound store that can be watched. */
export class WatchedStore extends SoundStore {
  protected watchers: Watcher[] = [];

  watch(taskId: string, changed: () => void): () => void {
    const watcher = { taskId, changed };
    this.watchers.push(watcher);
    return () => this.end(watcher);
  }

  override close(): Promise<void> {
    this.watchers = [];
    return super.close();
  }

  protected override put(taskId: string, text: string): void {
    super.put(taskId, text);
    this.tell(taskId);
  }

  protected override remove(taskId: string): boolean {
    this.tell(taskId);
    return super.remove(taskId);
  }

  protected end(watcher: Watcher): void {
    this.watchers = this.watchers.filter((one) => one !== watcher);
  }

  protected tell(taskId: string): void {
    queueMicrotask(() => this.tellNow(taskId));
  }

  protected tellNow(taskId: string): void {
    for (const watcher of this.watchers) {
      if (watcher.taskId === taskId) watcher.changed();
    }
  }
}

export const WATCH_FAULTS: readonly BrokenStore[] = [
  broken(
    "watch() never calls back",
    ["watch-hears"],
    class extends WatchedStore {
      protected override tell(): void {}
    },
  ),
  broken(
    "watch() calls back before the change can be read, and not after it",
    ["watch-hears"],
    class extends WatchedStore {
      override async update(
        taskId: string,
        patch: TaskPatch,
        expectedVersion: number,
        now?: number,
      ) {
        this.tellNow(taskId);
        for (let i = 0; i < 20; i++) await this.pause();
        return await super.update(taskId, patch, expectedVersion, now);
      }
      protected override put(taskId: string, text: string): void {
        this.database.texts.set(taskId, text);
      }
    },
  ),
  broken(
    "watch() knows of no deletion",
    ["watch-hears"],
    class extends WatchedStore {
      protected override remove(taskId: string): boolean {
        return this.database.texts.delete(taskId);
      }
    },
  ),
  broken(
    "watch() calls back at once",
    ["watch-outside"],
    class extends WatchedStore {
      override watch(taskId: string, changed: () => void): () => void {
        changed();
        return super.watch(taskId, changed);
      }
    },
  ),
  broken(
    "watch() calls back from within update()",
    ["watch-outside"],
    class extends WatchedStore {
      override update(
        taskId: string,
        patch: TaskPatch,
        expectedVersion: number,
        now?: number,
      ) {
        this.tellNow(taskId);
        return super.update(taskId, patch, expectedVersion, now);
      }
    },
  ),
  broken(
    "a watch has no end",
    ["watch-ends"],
    class extends WatchedStore {
      protected override end(): void {}
    },
  ),
  broken(
    "the end of a watch ends all of the record",
    ["watch-ends"],
    class extends WatchedStore {
      protected override end({ taskId }: Watcher): void {
        this.watchers = this.watchers.filter((one) => one.taskId !== taskId);
      }
    },
  ),
  broken(
    "the same function is called once, however often it watches",
    ["watch-ends"],
    class extends WatchedStore {
      override watch(taskId: string, changed: () => void): () => void {
        const other = this.watchers.find((one) => one.changed === changed);
        return other ? () => this.end(other) : super.watch(taskId, changed);
      }
    },
  ),
  broken(
    "a watch that is ended again ends another",
    ["watch-ends"],
    class extends WatchedStore {
      protected override end(watcher: Watcher): void {
        this.watchers.splice(this.watchers.indexOf(watcher), 1);
      }
    },
  ),
  broken(
    "a watch goes on after close()",
    ["watch-closed"],
    class extends WatchedStore {
      override async close(): Promise<void> {
        const { watchers, closed } = this;
        await super.close();
        if (closed) return;
        this.watchers = watchers;
        for (const { taskId } of watchers) {
          setTimeout(() => this.tellNow(taskId), 5);
        }
      }
    },
  ),
  broken(
    "a watch cannot be ended after close()",
    ["watch-closed"],
    class extends WatchedStore {
      protected override end(watcher: Watcher): void {
        this.refuseIfClosed("end a watch");
        super.end(watcher);
      }
    },
  ),
];
