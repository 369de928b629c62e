/** Cases about `watch()`, of stores that have it. */

import type { TaskRecord } from "../../model/record.ts";
import type { TaskStore } from "../../store/contract.ts";
import { type CaseInit, type ConformanceCase, defineCases } from "../case.ts";
import { expect } from "../expect.ts";
import { Unmet } from "../failure.ts";
import { conformanceRecord, CREATED_MS, DAY_MS } from "../record.ts";

/** How long a case waits for a call at most, in milliseconds. */
const LONGEST_WAIT_MS = 5_000;

/** What a case leaves of its time, so that it fails by itself, in milliseconds. */
const LEFT_MS = 300;

/** How long a case waits to see that nothing comes, in milliseconds. */
const SILENCE_MS = 60;

const LATER =
  "Call from a later turn, when the change is committed: with queueMicrotask(), or from what the database reports.";

/** Whether a record is as a change has made it. */
type Shows = (record: TaskRecord | undefined) => boolean;

/** Watches one record, and reads it at every call. */
class Watcher {
  readonly #store: TaskStore;
  readonly #taskId: string;
  readonly #deadline: number;
  #told: () => void = () => {};
  /** How often it was called. */
  calls = 0;
  /** Ends it. */
  readonly end: () => void;

  constructor(store: TaskStore, taskId: string, deadline: number) {
    this.#store = store;
    this.#taskId = taskId;
    this.#deadline = Math.min(Date.now() + LONGEST_WAIT_MS, deadline - LEFT_MS);
    this.end = store.watch!(taskId, () => {
      this.calls++;
      this.#told();
    });
  }

  /** Makes a change, and waits for a call at which it can be read. */
  async hears(
    what: string,
    shows: Shows,
    change: () => Promise<unknown>,
  ): Promise<void> {
    const before = this.calls;
    let late: ReturnType<typeof setTimeout> | undefined;
    const heard = new Promise<boolean>((resolve) => {
      const leftMs = Math.max(0, this.#deadline - Date.now());
      late = setTimeout(() => resolve(false), leftMs);
      this.#told = async () => {
        if (shows(await this.#store.get(this.#taskId, CREATED_MS))) {
          resolve(true);
        }
      };
    });
    try {
      await change();
      expect(
        await heard,
        `watch() of "${this.#taskId}" calls back after ${what}, when get() gives it`,
        this.calls === before
          ? "no call"
          : `${this.calls - before} calls, and get() gave it at none of them`,
      );
    } finally {
      clearTimeout(late);
      this.#told = () => {};
    }
  }
}

const hasMessage = (message: string): Shows => (record) =>
  record?.statusMessage === message;

const WATCH: readonly Omit<CaseInit, "clause" | "claims">[] = [
  {
    id: "watch-hears",
    does: "watch() calls back after each change of its record, not before it",
    hint:
      "Creations and deletions are changes too. Call when the change is committed: a call that comes before it is no use.",
    async run({ store, deadline }) {
      const watcher = new Watcher(store, "a", deadline);
      await watcher.hears(
        "create()",
        (record) => record?.version === 1,
        () => store.create(conformanceRecord({ ttlMs: DAY_MS })),
      );
      for (let version = 1; version <= 5; version++) {
        const message = `${version} of 5`;
        await watcher.hears(
          `update() of version ${version}`,
          hasMessage(message),
          () =>
            store.update("a", { statusMessage: message }, version, CREATED_MS),
        );
      }
      if (store.commit) {
        await watcher.hears(
          "commit()",
          hasMessage("committed"),
          () =>
            store.commit!("a", { statusMessage: "committed" }, 6, CREATED_MS),
        );
      }
      await watcher.hears(
        "sweep() has deleted it",
        (record) => record === undefined,
        () => store.sweep(CREATED_MS + 3 * DAY_MS),
      );
      watcher.end();
    },
  },
  {
    id: "watch-outside",
    does: "watch() calls back from outside of any call",
    hint: LATER,
    async run({ bare, deadline }) {
      let inside: string | undefined;
      let called: string | undefined;
      const within = <T>(what: string, call: () => T): T => {
        inside = what;
        try {
          return call();
        } finally {
          inside = undefined;
        }
      };
      const end = within(
        "watch()",
        () => bare.watch!("a", () => called ??= inside),
      );
      // Who hears of each change is there to know when all calls have come.
      const watcher = new Watcher(bare, "a", deadline);
      await watcher.hears(
        "create()",
        (record) => record !== undefined,
        () => within("create()", () => bare.create(conformanceRecord())),
      );
      await watcher.hears(
        "update()",
        hasMessage("new"),
        () =>
          within(
            "update()",
            () => bare.update("a", { statusMessage: "new" }, 1),
          ),
      );
      within("get()", () => bare.get("a"));
      within("the end of a watch", end);
      within("the end of a watch", watcher.end);
      expect(
        called === undefined,
        "watch() calls back when no call is being made",
        `a call from inside of ${called}`,
      );
    },
  },
  {
    id: "watch-ends",
    does: "the end of a watch ends that one, once and for all",
    hint:
      "Each watch is one of its own, also with the same record and the same function.",
    async run({ store, deadline }) {
      await store.create(conformanceRecord());
      let calls = 0;
      const count = () => calls++;
      const ends = [
        store.watch!("a", count),
        store.watch!("a", count),
        store.watch!("a", count),
      ];
      const stays = new Watcher(store, "a", deadline);
      const [first, second, third] = ends;
      first();
      first();
      const update = (version: number) =>
        stays.hears(
          `update() of version ${version}, where others have ended,`,
          (record) => record?.version === version + 1,
          () => store.update("a", {}, version),
        );
      await update(1);
      await silence();
      expect(
        calls >= 2,
        "a change is told to each of two watches with the same function, when a third has ended",
        `${calls} calls`,
      );
      second();
      third();
      calls = 0;
      first();
      await update(2);
      await silence();
      expect(
        calls === 0,
        "nothing is told to watches that have ended",
        `${calls} calls`,
      );
      stays.end();
    },
  },
  {
    id: "watch-closed",
    does: "watch() calls nobody back after close()",
    async run({ store, secondInstance, traits, deadline }) {
      await store.create(conformanceRecord());
      const watcher = new Watcher(store, "a", deadline);
      await watcher.hears(
        "update()",
        hasMessage("before"),
        () => store.update("a", { statusMessage: "before" }, 1),
      );
      const other = traits.writers === "shared"
        ? await secondInstance()
        : undefined;
      const last = store.update("a", { statusMessage: "last" }, 2)
        .catch(() => {});
      await store.close();
      const { calls } = watcher;
      await last;
      const version = (await other?.get("a"))?.version;
      if (version) await other!.update("a", {}, version);
      await silence();
      expect(
        watcher.calls === calls,
        "nothing is told after close()",
        `${watcher.calls - calls} calls`,
      );
      try {
        watcher.end();
      } catch (error) {
        throw new Unmet(
          "a watch can be ended after close()",
          `it threw ${error}`,
          { thrown: error },
        );
      }
    },
  },
];

function silence(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SILENCE_MS));
}

export const WATCH_CASES: readonly ConformanceCase[] = defineCases(
  WATCH.map((one) => ({ ...one, clause: "S29", claims: ["watch"] })),
);
