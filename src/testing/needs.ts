/** Whether a case concerns a store, and whether it can run. */

import type { TaskStore } from "../store/contract.ts";
import type { ConformanceCase, ConformanceClaim } from "./case.ts";
import { Unmet } from "./failure.ts";
import type { TaskStoreFixture } from "./fixture.ts";

/** What is claimed by having the method. */
type MethodClaim = "head" | "commit" | "watch";

type TraitClaim = Exclude<ConformanceClaim, MethodClaim>;

/** What a store says where it claims something. */
const CLAIM_WORDS: Readonly<Record<TraitClaim, string>> = {
  durable: "durable: true",
  shared: 'writers: "shared"',
  exclusive: 'writers: "exclusive"',
  compareAndSwap: "compareAndSwap",
  latestReads: 'reads: "latest"',
  eventualReads: 'reads: "eventual"',
  maxRecordBytes: "maxRecordBytes",
};

/** What a store says where it does not claim what others do. */
const DISCLAIM_WORDS: Partial<Readonly<Record<ConformanceClaim, string>>> = {
  compareAndSwap: "compareAndSwap: false",
  latestReads: 'reads: "eventual"',
};

/** Why a case does not run. */
export interface NotRun {
  readonly status: "skipped" | "notClaimed";
  readonly reason: string;
}

/**
 * Holds what a case needs against what there is.
 *
 * @param one The case.
 * @param fixture The store and its seams.
 * @returns Why it does not run; `undefined` where it does.
 * @throws {Unmet} The store claims what it is about, and it cannot run.
 */
export function judgeNeeds(
  one: ConformanceCase,
  fixture: TaskStoreFixture,
): NotRun | undefined {
  const { store } = fixture;
  const unclaimed = one.claims.filter((claim) => !claims(store, claim));
  if (unclaimed.length > 0) {
    const reason = unclaimed.map((claim) =>
      isMethod(claim)
        ? `the store has no ${claim}()`
        : DISCLAIM_WORDS[claim]
        ? `the store declares ${DISCLAIM_WORDS[claim]}`
        : `the store's traits do not declare ${CLAIM_WORDS[claim]}`
    ).join(", and ");
    return { status: "notClaimed", reason };
  }
  const missing = one.seams.filter((seam) => !fixture[seam]);
  if (missing.length === 0) return undefined;
  const reason = `the factory gives no ${
    missing.map((seam) => `${seam}()`).join(" and no ")
  }`;
  if (missing.includes("reopenLower")) {
    return {
      status: "notClaimed",
      reason: `${reason}: its limit of records is never lowered`,
    };
  }
  if (one.claims.length === 0) return { status: "skipped", reason };
  throw new Unmet(
    `the factory gives ${
      one.seams.map((seam) => `${seam}()`).join(" and ")
    }, since ${
      one.claims.map((claim) =>
        isMethod(claim)
          ? `the store has ${claim}()`
          : `the store's traits declare ${CLAIM_WORDS[claim]}`
      ).join(" and ")
    }`,
    `${reason}: a claim that cannot be tried is not believed`,
  );
}

function isMethod(claim: ConformanceClaim): claim is MethodClaim {
  return claim === "head" || claim === "commit" || claim === "watch";
}

function claims(store: TaskStore, claim: ConformanceClaim): boolean {
  const { traits = {} } = store;
  switch (claim) {
    case "head":
    case "commit":
    case "watch":
      return store[claim] !== undefined;
    case "durable":
      return traits.durable === true;
    case "shared":
    case "exclusive":
      return traits.writers === claim;
    case "compareAndSwap":
      return traits.compareAndSwap !== false;
    case "latestReads":
      return traits.reads !== "eventual";
    case "eventualReads":
      return traits.reads === "eventual";
    case "maxRecordBytes":
      return traits.maxRecordBytes !== undefined;
  }
}
