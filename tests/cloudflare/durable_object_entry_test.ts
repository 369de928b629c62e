import assert from "node:assert/strict";
import fc from "../support/fast_check.ts";
import {
  changeColumns,
  type Column,
  decode,
  encode,
  joinParts,
  joinRecord,
  PART_BYTES,
  partCount,
  recordBytes,
  splitFields,
  splitParts,
} from "../../src/cloudflare/durable_object_entry.ts";
import { StoreKeys } from "../../src/cloudflare/durable_object_keys.ts";
import { jsonBytes } from "../../src/model/json.ts";
import type { TaskHead, TaskRecord } from "../../mod.ts";
import { aRecord } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";

/** Lengths around those at which something changes. */
const edges = [0, 1, PART_BYTES, 2 * PART_BYTES, 5 * PART_BYTES];
const lengths = fc.tuple(
  fc.constantFrom(...edges),
  fc.integer({ min: -1, max: 1 }),
)
  .map(([edge, by]) => Math.max(0, edge + by));

const records = fc.record({
  status: fc.constantFrom("working", "completed"),
  statusMessage: fc.string({ unit: "binary" }),
  inputRequests: fc.dictionary(fc.string(), fc.jsonValue()),
  inputResponses: fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()),
  result: fc.record({ big: fc.string({ unit: "binary", maxLength: 3_000 }) }),
  error: fc.jsonValue(),
  other: fc.jsonValue(),
}, { requiredKeys: [] }).map((fields) =>
  // JSON knows no -0, and a lone surrogate survives it.
  aRecord("one", JSON.parse(JSON.stringify(fields)))
);

/** What is stored of a record. */
function columnsOf(record: TaskRecord) {
  const { head, payloads } = splitFields(record);
  return new Map<Column, Uint8Array | undefined>(payloads)
    .set("head", encode(head));
}

describe("splitParts() and joinParts()", () => {
  it("give the bytes back, whatever their length", () => {
    fc.assert(
      fc.property(lengths, (length) => {
        const bytes = new Uint8Array(length).map((_, i) => i % 251);
        const parts = splitParts(bytes);
        assert.equal(parts.length, partCount(length));
        for (const part of parts) {
          assert.ok(part.length <= PART_BYTES && part.length > 0);
          assert.equal(part.buffer.byteLength, part.length, "a view");
        }
        const joined = joinParts(parts, length)!;
        assert.equal(joined.length, length);
        assert.ok(joined.every((byte, i) => byte === i % 251));
      }),
      { numRuns: 30 },
    );
  });

  it("give nothing where a part is missing, too short, too long or something else", () => {
    const bytes = new Uint8Array(2 * PART_BYTES + 7).fill(3);
    const [first, second, third] = splitParts(bytes);
    for (
      const parts of [
        [],
        [first, second],
        [first, undefined, third],
        [first, second, third.slice(1)],
        [first, second, third, third],
        [first, second, "third"],
      ]
    ) assert.equal(joinParts(parts, bytes.length), undefined);
  });
});

describe("splitFields() and joinRecord()", () => {
  it("give a record back, and count the bytes of its JSON", () => {
    fc.assert(
      fc.property(records, (record) => {
        const bytes = columnsOf(record);
        const columns = changeColumns({}, bytes);
        assert.equal(recordBytes(columns), jsonBytes(record));
        const head = decode<TaskHead>(bytes.get("head")!);
        bytes.delete("head");
        assert.deepEqual(joinRecord(head, bytes), record);
      }),
    );
  });

  it("keep `__proto__` as a field", () => {
    const record = JSON.parse(
      JSON.stringify(aRecord("one")).replace("{", '{"__proto__":{"a":1},'),
    );
    const head = decode<TaskHead>(columnsOf(record).get("head")!);
    assert.equal(
      JSON.stringify(joinRecord(head, new Map())),
      JSON.stringify(record),
    );
  });
});

describe("changeColumns()", () => {
  it("keeps an entry under what a value may have, however large the record is", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 200_000 }), {
          minLength: 5,
          maxLength: 5,
        }),
        ([head, ...payloads]) => {
          const names = ["inputRequests", "inputResponses", "result", "error"];
          const columns = changeColumns(
            {},
            new Map([
              ["head" as Column, new Uint8Array(head)],
              ...payloads.map((length, i): [Column, Uint8Array] => [
                names[i] as Column,
                new Uint8Array(length),
              ]),
            ]),
          );
          const inline = Object.values(columns)
            .map((stored) => typeof stored === "number" ? 0 : stored.length)
            .reduce((a, b) => a + b);
          assert.ok(inline <= 81_920, `${inline} bytes`);
        },
      ),
    );
  });

  it("stores no view: a view would take its whole buffer along", () => {
    const view = new Uint8Array(1 << 20).subarray(5, 9);
    const { result } = changeColumns({}, new Map([["result", view]]));
    assert.equal((result as Uint8Array).buffer.byteLength, 4);
  });
});

describe("StoreKeys", () => {
  it("task() gives keys within the limit, and other keys to another id", async () => {
    const prefix = "p".repeat(512);
    const keys = new StoreKeys(prefix);
    const ids = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.array(fc.integer({ min: 0xd7ff, max: 0xe000 }), { maxLength: 3 })
        .map((units) => String.fromCharCode(...units)),
      fc.constantFrom("", "x".repeat(128), "x".repeat(129), "=a", "#a", "a/b"),
    );
    await fc.assert(
      fc.asyncProperty(ids, ids, async (a, b) => {
        const [ofA, ofB] = [await keys.task(a), await keys.task(b)];
        assert.equal(ofA.entry === ofB.entry, a === b);
        const expiry = ofA.expiry({
          createdAt: "2026-05-06T07:08:09.010Z",
          ttlMs: 12,
        })!;
        for (const key of [ofA.entry, ofA.part("inputResponses", 9), expiry]) {
          assert.ok(key.isWellFormed());
          assert.ok(new TextEncoder().encode(key).length <= 2_048);
          assert.ok(key.startsWith(prefix));
        }
        assert.equal(keys.taskOfExpiry(expiry).entry, ofA.entry);
      }),
    );
  });

  it("task() tells apart what differs in one bit, and lone surrogates", async () => {
    const keys = new StoreKeys("s/");
    const ids = ["", "=", "#", "\ud800", "\ud801", "\udc00", "\ufffd"];
    for (let bit = 0; bit < 16; bit++) {
      ids.push(`é${String.fromCharCode(1 << bit)}`);
      ids.push("x".repeat(120 + bit));
    }
    const entries = await Promise.all(
      ids.map(async (id) => (await keys.task(id)).entry),
    );
    assert.equal(new Set(entries).size, ids.length);
  });

  it("expiriesUntil() comes after what has expired, and before what has not", async () => {
    const keys = new StoreKeys("s/");
    const task = await keys.task("~");
    const created = Date.parse("2026-05-06T07:08:09.010Z");
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2 ** 52 }),
        fc.integer({ min: -2, max: 2 }),
        (ttlMs, by) => {
          const expiry = task.expiry({
            createdAt: "2026-05-06T07:08:09.010Z",
            ttlMs,
          })!;
          const now = created + ttlMs + by;
          assert.equal(expiry < keys.expiriesUntil(now), by >= 0);
        },
      ),
    );
    for (const ttlMs of [null, NaN, Infinity]) {
      assert.equal(task.expiry({ createdAt: "1999-01-01", ttlMs }), undefined);
    }
    assert.equal(
      task.expiry({ createdAt: "never", ttlMs: 5 }),
      undefined,
    );
  });
});
