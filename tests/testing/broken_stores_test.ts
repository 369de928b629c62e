/** The teeth of the kit: stores that are wrong fail, by the check that is there for it. */

import assert from "node:assert/strict";
import { checkTaskStore, conformanceChecks } from "../../testing.ts";
import { BROKEN_STORES } from "../support/broken_stores/mod.ts";
import {
  eventualFactoryOf,
  EventualStore,
} from "../support/broken_stores/eventual_store.ts";
import { ShortCutStore } from "../support/broken_stores/short_cut_faults.ts";
import { WatchedStore } from "../support/broken_stores/watch_faults.ts";
import {
  EXCLUSIVE,
  factoryOf,
  SHARED,
  SoundStore,
} from "../support/broken_stores/sound_store.ts";
import { describe, it } from "../support/runner.ts";

describe("checkTaskStore()", () => {
  const sound = {
    shared: factoryOf(SoundStore, SHARED),
    exclusive: factoryOf(SoundStore, EXCLUSIVE),
    eventual: eventualFactoryOf(EventualStore),
    "with short cuts": factoryOf(ShortCutStore, SHARED),
    watched: factoryOf(WatchedStore, SHARED),
  };
  for (const [kind, factory] of Object.entries(sound)) {
    it(`finds nothing in the sound store that the broken ones are made of (${kind})`, async () => {
      const report = await checkTaskStore("sound", factory);
      assert.deepEqual(
        report.results.filter(({ status }) =>
          status === "failed" || status === "skipped"
        ),
        [],
      );
    });
  }

  for (const { fault, foundBy, factory } of BROKEN_STORES) {
    it(`finds a store in which ${fault}`, async () => {
      const report = await checkTaskStore(fault, factory, {
        only: foundBy,
        caseTimeoutMs: 2_000,
      });
      assert.equal(report.ok, false);
      const statuses = foundBy.map((id) =>
        `${id}: ${report.results.find((result) => result.id === id)?.status}`
      );
      assert.deepEqual(statuses, foundBy.map((id) => `${id}: failed`));
    });
  }
});

describe("every check", () => {
  it("has a broken store that it is there for", () => {
    const proven = new Set(BROKEN_STORES.flatMap(({ foundBy }) => foundBy));
    assert.deepEqual(
      conformanceChecks.map(({ id }) => id).filter((id) => !proven.has(id)),
      [],
    );
    assert.ok(BROKEN_STORES.length >= 25);
  });
});
