/** Faults of what is kept: copies, values, sizes. */

import type { TaskPatch, TaskRecord } from "../../../mod.ts";
import { broken, type BrokenStore } from "./fault.ts";
import { type Fields, SoundStore } from "./sound_store.ts";

/** Makes something else of every scalar, and of every container once its members are done. */
function walk(value: unknown, change: (value: unknown) => unknown): unknown {
  if (typeof value !== "object" || value === null) return change(value);
  if (Array.isArray(value)) {
    return change(value.map((member) => walk(member, change)));
  }
  return change(
    Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, walk(member, change)]),
    ),
  );
}

/** Encodes a record with its values changed. */
abstract class Changing extends SoundStore {
  protected abstract change(value: unknown): unknown;
  protected override encode(record: TaskRecord): string {
    return JSON.stringify(walk(record, (value) => this.change(value)));
  }
}

export const VALUE_FAULTS: readonly BrokenStore[] = [
  broken(
    "create() copies when it writes",
    ["copies-into-create"],
    class extends SoundStore {
      override async create(record: TaskRecord): Promise<void> {
        this.refuseIfClosed("create");
        await this.pause();
        await super.create(record);
      }
    },
  ),
  broken(
    "update() copies when it writes",
    ["copies-into-update"],
    class extends SoundStore {
      protected override take(patch: TaskPatch): TaskPatch {
        return patch;
      }
    },
  ),
  broken(
    "get() gives out what it keeps",
    ["copies-out-of-get"],
    class extends SoundStore {
      readonly #decoded = new Map<string, TaskRecord>();
      protected override decode(text: string): TaskRecord {
        let record = this.#decoded.get(text);
        if (!record) this.#decoded.set(text, record = super.decode(text));
        return record;
      }
      override async update(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ) {
        return structuredClone(
          await super.update(taskId, patch, version, now),
        );
      }
    },
  ),
  broken(
    "update() gives out what it keeps",
    ["copies-out-of-update"],
    class extends SoundStore {
      readonly #updated = new Map<string, TaskRecord>();
      override async update(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ) {
        const record = await super.update(taskId, patch, version, now);
        this.#updated.set(this.find(taskId)!, record);
        return record;
      }
      protected override decode(text: string): TaskRecord {
        const updated = this.#updated.get(text);
        return updated ? structuredClone(updated) : super.decode(text);
      }
    },
  ),
  broken(
    "update() adds to the caller's patch",
    ["copies-arguments"],
    class extends SoundStore {
      protected override take(patch: TaskPatch): TaskPatch {
        const copy = super.take(patch);
        (patch as Fields).lastUpdatedAt ??= undefined;
        return copy;
      }
    },
  ),
  broken(
    "create() marks the caller's record",
    ["copies-arguments"],
    class extends SoundStore {
      override create(record: TaskRecord): Promise<void> {
        const creating = super.create(record);
        if (!Object.isFrozen(record)) {
          (record as unknown as Fields).stored = true;
        }
        return creating;
      }
    },
  ),
  broken(
    "lone surrogates are replaced",
    ["json-strings", "random"],
    class extends Changing {
      protected change(value: unknown) {
        return typeof value === "string" ? value.toWellFormed() : value;
      }
    },
  ),
  broken(
    "texts are normalised",
    ["json-strings"],
    class extends Changing {
      protected change(value: unknown) {
        return typeof value === "string" ? value.normalize("NFC") : value;
      }
    },
  ),
  broken(
    "texts are cut at 8,000 characters",
    ["json-strings"],
    class extends Changing {
      protected change(value: unknown) {
        return typeof value === "string" ? value.slice(0, 8_000) : value;
      }
    },
  ),
  broken(
    "numbers have 15 digits",
    ["json-numbers"],
    class extends Changing {
      protected change(value: unknown) {
        return typeof value === "number"
          ? Number(value.toPrecision(15))
          : value;
      }
    },
  ),
  broken(
    "empty arrays become empty objects",
    ["json-empties"],
    class extends Changing {
      protected change(value: unknown) {
        return Array.isArray(value) && value.length === 0 ? {} : value;
      }
    },
  ),
  broken(
    "__proto__ is lost",
    ["json-keys", "random"],
    class extends SoundStore {
      protected override decode(text: string): TaskRecord {
        return JSON.parse(
          text,
          (key, value) => key === "__proto__" ? undefined : value,
        );
      }
    },
  ),
  broken(
    "names with dots become paths",
    ["json-keys"],
    class extends SoundStore {
      protected override decode(text: string): TaskRecord {
        return JSON.parse(text, function (this: Fields, key, value) {
          if (!key.includes(".")) return value;
          this[key.replaceAll(".", "_")] = value;
          return undefined;
        });
      }
    },
  ),
  broken(
    "fields that have no column are dropped",
    ["json-unknown-fields"],
    class extends SoundStore {
      protected override encode(record: TaskRecord): string {
        const { futureField: _, ...known } = record as unknown as Fields;
        return JSON.stringify(known);
      }
    },
  ),
  broken(
    "the used keys are forgotten when a task ends",
    ["json-terminal"],
    class extends SoundStore {
      protected override apply(record: TaskRecord, patch: TaskPatch) {
        const next = super.apply(record, patch);
        if (next.status === "working") return next;
        const { usedInputKeys: _, ...rest } = next;
        return rest;
      }
    },
  ),
  broken(
    "nesting is cut at 600 levels",
    ["json-deep"],
    class extends SoundStore {
      protected override encode(record: TaskRecord): string {
        const text = super.encode(record);
        const deep = "[".repeat(600);
        return text.includes(deep)
          ? text.replaceAll(/\[{600,}\]+/g, `${deep}${"]".repeat(600)}`)
          : text;
      }
    },
  ),
  broken(
    "sizes are counted in characters",
    ["size-over-create", "size-over-update"],
    class extends SoundStore {
      protected override bytes(text: string): number {
        return text.length;
      }
    },
  ),
  broken(
    "sizes are counted with what the store adds",
    ["size-at-limit"],
    class extends SoundStore {
      protected override bytes(text: string): number {
        return super.bytes(text) + 2;
      }
    },
  ),
  broken(
    "update() has no limit",
    ["size-over-update"],
    class extends SoundStore {
      protected override refuseIfTooLarge(taskId: string, text: string): void {
        if (this.find(taskId) === undefined) {
          super.refuseIfTooLarge(taskId, text);
        }
      }
    },
  ),
  broken(
    "what is too large is kept, and then refused",
    ["size-over-create", "size-over-update"],
    class extends SoundStore {
      protected override refuseIfTooLarge(taskId: string, text: string): void {
        try {
          super.refuseIfTooLarge(taskId, text);
        } catch (error) {
          this.put(taskId, text);
          throw error;
        }
      }
    },
  ),
  broken(
    "a lowered limit stops all changes of what is over it",
    ["size-lowered-change"],
    class extends SoundStore {
      protected override isOver(): boolean {
        return false;
      }
    },
  ),
  broken(
    "a lowered limit stops the changes that leave the size as it is",
    ["size-lowered-change"],
    class extends SoundStore {
      protected override mostAfter(bytes: number): number {
        return bytes - 1;
      }
    },
  ),
  broken(
    "a lowered limit leaves no room for an end",
    ["size-lowered-change"],
    class extends SoundStore {
      protected override mostAfter(bytes: number): number {
        return bytes;
      }
    },
  ),
  broken(
    "what is over a lowered limit is not there any more",
    ["size-lowered-change", "size-lowered-growth"],
    class extends SoundStore {
      protected override find(taskId: string): string | undefined {
        const text = super.find(taskId);
        return text && this.isOver(this.bytes(text)) ? undefined : text;
      }
    },
  ),
  broken(
    "what is over a lowered limit may grow",
    ["size-lowered-growth"],
    class extends SoundStore {
      protected override mostAfter(): number {
        return Infinity;
      }
    },
  ),
  broken(
    "what was over a lowered limit once may be so again",
    ["size-lowered-growth"],
    class extends SoundStore {
      #once = false;
      protected override isOver(bytes: number): boolean {
        return this.#once ||= super.isOver(bytes);
      }
      protected override mostAfter(bytes: number): number {
        return super.mostAfter(Math.max(bytes, 150_000));
      }
    },
  ),
];
