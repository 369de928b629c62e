/** Cases about what is shared with callers: nothing. */

import { copyJson } from "../../model/json.ts";
import { type ConformanceCase, defineCases } from "../case.ts";
import { expectEqual } from "../expect.ts";
import { conformanceRecord, memberOf, patchOf } from "../record.ts";

interface Deep {
  readonly deep: { readonly list: number[] };
}

const deep = (): Deep => ({ deep: { list: [1] } });
const AT_ONCE =
  "Copy or encode what comes in before the first await: the caller may change its object as soon as the method has returned its promise.";

export const COPY_CASES: readonly ConformanceCase[] = defineCases([
  {
    id: "copies-into-create",
    clause: "S2",
    does: "create() keeps a copy, made before it returns",
    hint: AT_ONCE,
    async run({ store }) {
      const given = deep();
      const creating = store.create(conformanceRecord({ given }));
      given.deep.list.push(2);
      await creating;
      expectEqual(
        'get("a") after the caller has changed its record at once',
        await store.get("a"),
        conformanceRecord({ given: deep() }),
      );
      given.deep.list.push(3);
      expectEqual(
        'get("a") after the caller has changed its record later',
        await store.get("a"),
        conformanceRecord({ given: deep() }),
      );
    },
  },
  {
    id: "copies-into-update",
    clause: "S2",
    does: "update() keeps a copy, made before it returns",
    hint: AT_ONCE,
    async run({ store }) {
      await store.create(conformanceRecord());
      const given = deep();
      const patch: Record<string, unknown> = { given };
      const updating = store.update("a", patchOf(patch), 1);
      given.deep.list.push(2);
      patch.late = true;
      await updating;
      const expected = conformanceRecord({ given: deep(), version: 2 });
      expectEqual(
        'get("a") after the caller has changed its patch at once',
        await store.get("a"),
        expected,
      );
      given.deep.list.push(3);
      expectEqual(
        'get("a") after the caller has changed its patch later',
        await store.get("a"),
        expected,
      );
    },
  },
  {
    id: "copies-out-of-get",
    clause: "S2",
    does: "get() gives a copy, a new one each time",
    async run({ store }) {
      await store.create(conformanceRecord({ given: deep() }));
      const [one, other] = await Promise.all([store.get("a"), store.get("a")]);
      (memberOf(one, "given") as Deep).deep.list.push(2);
      (one as unknown as Record<string, unknown>).version = 77;
      const expected = conformanceRecord({ given: deep() });
      expectEqual(
        'another get("a") at the same time, after the caller has changed what the first gave,',
        other,
        expected,
      );
      expectEqual('get("a") after it', await store.get("a"), expected);
    },
  },
  {
    id: "copies-out-of-update",
    clause: "S2",
    does: "update() gives a copy",
    async run({ store }) {
      await store.create(conformanceRecord({ given: deep() }));
      const updated = await store.update("a", patchOf({ more: deep() }), 1);
      (memberOf(updated, "given") as Deep).deep.list.push(2);
      (memberOf(updated, "more") as Deep).deep.list.push(2);
      (updated as unknown as Record<string, unknown>).version = 77;
      expectEqual(
        'get("a") after the caller has changed what update() gave',
        await store.get("a"),
        conformanceRecord({ given: deep(), more: deep(), version: 2 }),
      );
    },
  },
  {
    id: "copies-arguments",
    clause: "S2",
    does: "create() and update() leave what they are given as it was",
    async run({ store }) {
      const record = frozen(conformanceRecord({ given: deep() }));
      const patch = frozen({ statusMessage: undefined, more: deep() });
      await store.create(record);
      await store.update("a", patchOf(patch), 1);
      const expected = conformanceRecord({
        given: deep(),
        more: deep(),
        statusMessage: undefined,
        version: 2,
      });
      expectEqual(
        'get("a") of a frozen record, updated by a frozen patch,',
        await store.get("a"),
        expected,
      );
      const open = conformanceRecord({ taskId: "b", given: deep() });
      const before = copyJson(open);
      await store.create(open);
      await store.update("b", patchOf({ more: deep() }), 1);
      expectEqual("the caller's own record after it", open, before);
    },
  },
]);

/** Freezes a value and all that is in it: to change it is an error then. */
function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
}
