import assert from "node:assert/strict";
import { expiresAt, isExpired } from "../../src/model/expiry.ts";
import { describe, it } from "../support/runner.ts";

const createdAt = "2026-07-28T10:20:30.456Z";
const created = Date.parse(createdAt);
const day = 24 * 60 * 60 * 1_000;

describe("expiresAt()", () => {
  it("counts the TTL from the creation", () => {
    assert.equal(expiresAt({ createdAt, ttlMs: 1_234 }), created + 1_234);
  });

  it("is never for a task without a TTL", () => {
    assert.equal(expiresAt({ createdAt, ttlMs: null }), Infinity);
  });
});

describe("isExpired()", () => {
  it("turns at the millisecond at which the TTL has passed", () => {
    const record = { createdAt, ttlMs: 10 };
    assert.equal(isExpired(record, created), false);
    assert.equal(isExpired(record, created + 9), false);
    assert.equal(isExpired(record, created + 10), true);
    assert.equal(isExpired(record, created + 11), true);
  });

  it("holds for TTLs beyond 32 bits", () => {
    for (const days of [30, 10_000]) {
      const record = { createdAt, ttlMs: days * day };
      assert.equal(isExpired(record, created + days * day - 1), false);
      assert.equal(isExpired(record, created + days * day), true);
    }
  });

  it("is false before the creation, whatever the clock does", () => {
    assert.equal(isExpired({ createdAt, ttlMs: 1 }, created - day), false);
  });

  it("is false for ever without a TTL", () => {
    assert.equal(
      isExpired({ createdAt, ttlMs: null }, Number.MAX_SAFE_INTEGER),
      false,
    );
  });

  it("follows a TTL that changes", () => {
    const record = { createdAt, ttlMs: 1_000 };
    assert.equal(
      isExpired({ ...record, ttlMs: 2_000 }, created + 1_500),
      false,
    );
    assert.equal(isExpired({ ...record, ttlMs: 2_000 }, created + 2_000), true);
    assert.equal(isExpired({ ...record, ttlMs: 500 }, created + 600), true);
  });
});
