import assert from "node:assert/strict";
import fc from "../support/fast_check.ts";
import type { TaskRecord } from "../../mod.ts";
import { MAX_VALUE_BYTES } from "../../src/deno_kv/limits.ts";
import {
  assemble,
  decode,
  type PieceName,
  type Pieces,
  type Plan,
  planWrite,
  readValue,
  recordBytesOf,
} from "../../src/deno_kv/value.ts";
import { jsonBytes } from "../../src/model/json.ts";
import { PAYLOAD_FIELDS } from "../../src/model/record.ts";
import { aRecord } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";

/** A record with any fields, known to the engine or not. */
function recordWith(fields: Record<string, unknown>): TaskRecord {
  return aRecord("a", fields as Partial<TaskRecord>);
}

function plan(
  record: TaskRecord,
  { kept = new Map() as Pieces, write = "w-1", writesBefore = [] as string[] } =
    {},
): Plan {
  return planWrite({ record, kept, write, writesBefore });
}

/** The text of a piece, from the parts of one plan. */
function textOf(
  { pieces, parts }: Plan,
  name: PieceName,
): string {
  const { first, count, bytes } = pieces.get(name)!;
  const all = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts.slice(first, first + count)) {
    all.set(part, at);
    at += part.length;
  }
  assert.equal(at, bytes);
  return decode(all);
}

/** Puts a planned record together again. */
function again(made: Plan): TaskRecord {
  const names = [...made.pieces.keys()];
  const texts = new Map(names.map((name) => [name, textOf(made, name)]));
  return assemble(readValue(made.value), texts);
}

/** A text of a size that often meets the border of a part. */
const text = fc.tuple(
  fc.constantFrom("x", "é", "漢", "😀", "\ud800", '"', "\u0000"),
  fc.constantFrom(1, 20, 900, 5_460, 16_384, 21_845, 32_768),
  fc.integer({ min: -3, max: 3 }),
).map(([unit, count, more]) => unit.repeat(Math.max(0, count + more)));

const fields = fc.record({
  statusMessage: text,
  owner: text,
  inputRequests: fc.record({ a: text }),
  inputResponses: fc.record({ b: text, ["é"]: fc.constant(-1.5) }),
  result: fc.record({ content: fc.array(text, { maxLength: 3 }) }),
  error: fc.record({ code: fc.integer(), message: text }),
  future: fc.array(text, { maxLength: 2 }),
  ["__proto__"]: text,
}, { requiredKeys: [] });

describe("planWrite()", () => {
  it("splits any record so that it fits, and assemble() gives it back", () => {
    fc.assert(
      fc.property(fields, (fields) => {
        const record = recordWith(JSON.parse(JSON.stringify(fields)));
        const made = plan(record);
        assert.ok(made.value.length <= MAX_VALUE_BYTES);
        for (const part of made.parts) {
          assert.ok(part.length <= MAX_VALUE_BYTES && part.length > 0);
        }
        assert.deepEqual(again(made), record);
        const bytes = jsonBytes(record);
        assert.equal(made.recordBytes, bytes);
        assert.equal(recordBytesOf(readValue(made.value)), bytes);
        // What fits whole is whole.
        if (bytes <= MAX_VALUE_BYTES - 200) assert.equal(made.pieces.size, 0);
      }),
      { numRuns: 100 },
    );
  });

  it("keeps a record in one value up to its last byte", () => {
    const empty = recordWith({ result: { text: "" } });
    const frame = plan(empty).value.length;
    for (const unit of ["x", "é"]) {
      const width = jsonBytes(unit) - 2;
      const count = Math.floor((MAX_VALUE_BYTES - frame) / width);
      const fit = plan(recordWith({ result: { text: unit.repeat(count) } }));
      assert.equal(fit.parts.length, 0);
      assert.ok(fit.value.length > MAX_VALUE_BYTES - width);
      const over = recordWith({ result: { text: unit.repeat(count + 1) } });
      const split = plan(over);
      assert.deepEqual([...split.pieces.keys()], ["result"]);
      assert.equal(split.parts.length, 1);
      assert.deepEqual(again(split), over);
    }
  });

  it("moves out the largest field first, and no more than it has to", () => {
    const record = recordWith({
      result: { text: "r".repeat(50_000) },
      inputRequests: { q: { text: "q".repeat(60_000) } },
      inputResponses: { a: "small" },
    });
    const made = plan(record);
    assert.deepEqual([...made.pieces.keys()], ["inputRequests"]);
    assert.deepEqual(again(made), record);
  });

  it("moves out all that is no payload where it is too large itself", () => {
    const record = recordWith({
      usedInputKeys: Array.from({ length: 999 }, (_, i) => `漢${i}`.repeat(40)),
      result: { rows: [1] },
      version: 7,
      ttlMs: 4_000,
    });
    const made = plan(record);
    assert.deepEqual([...made.pieces.keys()], ["result", "rest"]);
    const value = readValue(made.value);
    assert.equal(value.version, 7);
    assert.equal(value.expiresAt, Date.parse(record.createdAt) + 4_000);
    assert.deepEqual(value.fields, {});
    assert.deepEqual(again(made), record);
  });

  it("leaves pieces that stay where they are, and counts their bytes", () => {
    const result = { text: "é".repeat(90_000) };
    const before = plan(recordWith({ result }), { write: "w-1" });
    const kept = new Map(before.pieces);
    const record = recordWith({
      version: 2,
      inputRequests: { text: "q".repeat(70_000) },
    });
    const made = plan(record, { kept, write: "w-2", writesBefore: ["w-1"] });
    assert.equal(made.pieces.get("result"), before.pieces.get("result"));
    assert.equal(made.pieces.get("inputRequests")?.generation, "w-2");
    assert.equal(made.recordBytes, jsonBytes({ ...record, result }));
    // What the record still has of it is passed over.
    const same = plan({ ...record, result }, { kept, write: "w-2" });
    assert.equal(same.recordBytes, made.recordBytes);
    assert.equal(same.parts.length, made.parts.length);
  });

  it("remembers the last four writers", () => {
    const made = plan(aRecord("a"), {
      write: "w-6",
      writesBefore: ["w-5", "w-4", "w-3", "w-2"],
    });
    const { writes } = readValue(made.value);
    assert.deepEqual(writes, ["w-6", "w-5", "w-4", "w-3"]);
  });

  it("knows every field that may be large by its name", () => {
    for (const name of PAYLOAD_FIELDS) {
      const record = recordWith({ [name]: { text: "x".repeat(65_536) } });
      const made = plan(record);
      assert.deepEqual([...made.pieces.keys()], [name]);
      assert.deepEqual(again(made), record);
    }
  });
});

describe("readValue()", () => {
  it("refuses what is none of ours, and what a later release wrote", () => {
    const later = new TextEncoder().encode('{"format":2,"version":1}');
    assert.throws(() => readValue(later), /format of the value is 2/);
    assert.throws(() => readValue("text"), /not one that this store/);
    assert.throws(() => readValue(new Uint8Array([0xff])), TypeError);
  });
});
