/** A plain model of a store, and the steps of a random run that hold a store against it. */

import { isExpired } from "../../model/expiry.ts";
import { hasErrorCode } from "../../errors.ts";
import { applyTaskPatch, headOf, type TaskRecord } from "../../model/record.ts";
import type { TaskStore } from "../../store/contract.ts";
import { describeError } from "../brief.ts";
import { expectEqual, expectRefused } from "../expect.ts";
import { Unmet } from "../failure.ts";
import type { Random } from "../random.ts";
import { conformanceRecord, CREATED_MS, DAY_MS, patchOf } from "../record.ts";
import { expectSwept } from "./sweep.ts";
import { awkwardKeys, EMPTIES, NUMBERS, STRINGS } from "./values.ts";

const IDS = ["a", "b", "__proto__", "", "\ud800"] as const;
const TTLS = [null, DAY_MS, 3 * DAY_MS, 40 * DAY_MS] as const;
const FIELDS = [
  "statusMessage",
  "result",
  "error",
  "inputRequests",
  "x",
  "__proto__",
  "",
] as const;

/** One step. It means the same whatever steps were left out before it. */
export type Step =
  | {
    readonly kind: "create";
    readonly instance: number;
    readonly taskId: string;
    readonly fields: Readonly<Record<string, unknown>>;
    readonly ttlMs: number | null;
  }
  | {
    readonly kind: "update";
    readonly instance: number;
    readonly taskId: string;
    readonly patch: Readonly<Record<string, unknown>>;
    /** How far the expected version is from the stored one. */
    readonly off: number;
    readonly now: number;
    /** By `commit()`, where the store has it. */
    readonly commits: boolean;
  }
  | {
    readonly kind: "get";
    readonly instance: number;
    readonly taskId: string;
    readonly now: number;
  }
  | {
    readonly kind: "sweep";
    readonly instance: number;
    readonly now: number;
  }
  | { readonly kind: "reopen" };

/**
 * Draws the steps of a run.
 *
 * @param random The source.
 * @param options How many steps, on how many instances, and whether the store is opened again among them.
 * @returns The steps.
 */
export function drawSteps(
  random: Random,
  options: { count: number; instances: number; reopens: boolean },
): readonly Step[] {
  const value = () =>
    random.pick([
      () => random.pick(STRINGS.slice(0, -1)),
      () => random.pick(NUMBERS),
      () => random.pick(EMPTIES),
      awkwardKeys,
    ])();
  const fields = (undefineds: boolean) => {
    const drawn: [string, unknown][] = [];
    for (let i = random.below(4); i > 0; i--) {
      const deletes = undefineds && random.below(3) === 0;
      drawn.push([random.pick(FIELDS), deletes ? undefined : value()]);
    }
    return Object.fromEntries(drawn);
  };
  // Around the ends of the TTLs, to the millisecond.
  const now = () =>
    CREATED_MS + random.pick([0, 1, 3, 40]) * DAY_MS + random.below(3) - 1;
  const draw = (): Step => {
    const instance = random.below(options.instances);
    const taskId = random.pick(IDS);
    const roll = random.below(100);
    if (options.reopens && roll < 6) return { kind: "reopen" };
    if (roll < 26) {
      const ttlMs = random.pick(TTLS);
      return { kind: "create", instance, taskId, fields: fields(false), ttlMs };
    }
    if (roll < 72) {
      const patch = fields(true);
      if (random.below(5) === 0) patch.ttlMs = random.pick(TTLS);
      const off = random.pick([0, 0, 0, 0, 0, -1, 1]);
      const commits = random.below(2) === 0;
      return {
        kind: "update",
        instance,
        taskId,
        patch,
        off,
        now: now(),
        commits,
      };
    }
    if (roll < 92) return { kind: "get", instance, taskId, now: now() };
    // Never within hours of the end of a TTL: a shared store may leave those.
    const day = random.pick([0, 1, 2, 3, 10]);
    const noon = CREATED_MS + (day + 0.5) * DAY_MS;
    return { kind: "sweep", instance, now: noon };
  };
  return Array.from({ length: options.count }, draw);
}

/**
 * Runs steps on a store and on the model, and holds one against the other.
 *
 * @param steps The steps.
 * @param stores The instances.
 * @param reopen Opens the store again, and gives the new instance.
 */
export async function runSteps(
  steps: readonly Step[],
  stores: readonly TaskStore[],
  reopen: () => Promise<TaskStore>,
): Promise<void> {
  const model = new Map<string, TaskRecord>();
  let instances = stores;
  for (const step of steps) {
    if (step.kind === "reopen") {
      instances = [await reopen()];
      await compareAll(instances[0], model);
    } else await runStep(instances[step.instance], model, step);
  }
  for (const store of instances) await compareAll(store, model);
}

/** Each record by a clock at which none is expired. */
async function compareAll(
  store: TaskStore,
  model: ReadonlyMap<string, TaskRecord>,
): Promise<void> {
  for (const taskId of IDS) {
    expectEqual(
      `get(${JSON.stringify(taskId)})`,
      await store.get(taskId, CREATED_MS - 1),
      model.get(taskId),
    );
  }
}

async function runStep(
  store: TaskStore,
  model: Map<string, TaskRecord>,
  step: Exclude<Step, { kind: "reopen" }>,
): Promise<void> {
  if (step.kind === "sweep") {
    const expired = [...model.values()].filter((record) =>
      isExpired(record, step.now)
    );
    for (const record of expired) model.delete(record.taskId);
    expectSwept("sweep()", await store.sweep(step.now), expired.length);
    return;
  }
  const name = JSON.stringify(step.taskId);
  const before = model.get(step.taskId);
  if (step.kind === "create") {
    await create(store, model, step, before);
  } else {
    const live = before && !isExpired(before, step.now) ? before : undefined;
    if (step.kind === "get") {
      expectEqual(`get(${name})`, await store.get(step.taskId, step.now), live);
      if (store.head) {
        expectEqual(
          `head(${name})`,
          await store.head(step.taskId, step.now),
          live && headOf(live),
        );
      }
      return;
    }
    await change(store, model, step, before, live);
  }
  expectEqual(
    `get(${name})`,
    await store.get(step.taskId, CREATED_MS - 1),
    model.get(step.taskId),
  );
}

async function change(
  store: TaskStore,
  model: Map<string, TaskRecord>,
  step: Extract<Step, { kind: "update" }>,
  before: TaskRecord | undefined,
  live: TaskRecord | undefined,
): Promise<void> {
  const { taskId, off, now } = step;
  const patch = patchOf(step.patch);
  const version = (before?.version ?? 1) + off;
  const byCommit = step.commits && store.commit !== undefined;
  const what = `${byCommit ? "commit" : "update"}(${JSON.stringify(taskId)})`;
  const changing: Promise<unknown> = byCommit
    ? store.commit!(taskId, patch, version, now)
    : store.update(taskId, patch, version, now);
  if (!live) {
    await expectRefused(what, changing, "ERR_TASK_NOT_FOUND");
  } else if (off !== 0) {
    await expectRefused(what, changing, "ERR_CONCURRENT_UPDATE");
  } else {
    const next = applyTaskPatch(live, patch);
    expectEqual(what, await changing, byCommit ? next.version : next);
    model.set(taskId, next);
  }
}

async function create(
  store: TaskStore,
  model: Map<string, TaskRecord>,
  step: Extract<Step, { kind: "create" }>,
  before: TaskRecord | undefined,
): Promise<void> {
  const { taskId, fields, ttlMs } = step;
  const name = JSON.stringify(taskId);
  const record = conformanceRecord({ ...fields, taskId, ttlMs });
  const creating = store.create(record);
  if (!before) {
    await creating;
    model.set(taskId, record);
  } else if (before.ttlMs === null) {
    await expectRefused(`create(${name})`, creating, "ERR_DUPLICATE_TASK_ID");
  } else {
    // By the store's own clock it may be expired, and so be taken.
    try {
      await creating;
      model.set(taskId, record);
    } catch (error) {
      if (hasErrorCode(error, "ERR_DUPLICATE_TASK_ID")) return;
      throw new Unmet(
        `create(${name}) of an id that exists rejects with ERR_DUPLICATE_TASK_ID`,
        `it rejected with ${describeError(error)}`,
        { thrown: error },
      );
    }
  }
}
