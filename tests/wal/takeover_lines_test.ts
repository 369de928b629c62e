import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "../support/fast_check.ts";
import { realDisk } from "../../src/wal/disk.ts";
import { ForeignDecoder } from "../../src/wal/takeover_entry.ts";
import { readLines } from "../../src/wal/takeover_lines.ts";
import { aRecord } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";
import { withTempDir } from "../support/wal_dir.ts";

/** What is read of a file: the text of each line, or how long it is. */
async function read(
  path: string,
  { from = 0, to = Infinity, longestBytes }: {
    from?: number;
    to?: number;
    longestBytes?: number;
  } = {},
): Promise<{ offset: number; text: string | number }[]> {
  const file = realDisk.openToRead(path);
  try {
    const found = [];
    const end = Math.min(file.size(), to);
    for await (const lines of readLines(file, from, end, longestBytes)) {
      for (const { offset, body, bytes } of lines) {
        const text = body && new TextDecoder().decode(body);
        if (body) assert.equal(body.length, bytes);
        found.push({ offset, text: text ?? bytes });
      }
    }
    return found;
  } finally {
    file.close();
  }
}

describe("readLines()", () => {
  it("gives every whole line, and nothing behind the last newline", () =>
    withTempDir((dir) =>
      fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.oneof(
              fc.nat(40),
              fc.integer({ min: 262_100, max: 262_200 }),
              fc.nat(1_000_000),
            ),
            { maxLength: 6 },
          ),
          fc.nat(50),
          fc.nat(6),
          async (lengths, torn, skipped) => {
            const path = join(dir, "log");
            const lines = lengths.map((length, index) =>
              String.fromCharCode(97 + index).repeat(length)
            );
            writeFileSync(
              path,
              lines.map((line) => `${line}\n`).join("") + "x".repeat(torn),
            );
            let offset = 0;
            const all = lines.map((text) => {
              const line = { offset, text };
              offset += text.length + 1;
              return line;
            });
            assert.deepEqual(await read(path), all);
            const from = all[skipped]?.offset ?? 0;
            const wanted = all.filter((line) => line.offset >= from);
            assert.deepEqual(await read(path, { from }), wanted);
            const to = all[skipped]?.offset ?? Infinity;
            assert.deepEqual(
              await read(path, { to }),
              all.filter((line) => line.offset < to),
            );
          },
        ),
        { numRuns: 40 },
      )
    ));

  it("keeps no line that is too long, and finds the next", () =>
    withTempDir((dir) =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.nat(40), { maxLength: 8 }),
          async (lengths) => {
            const path = join(dir, "log");
            const lines = lengths.map((length) => "x".repeat(length));
            writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
            assert.deepEqual(
              (await read(path, { longestBytes: 10 })).map(({ text }) =>
                typeof text === "number" ? -text : text.length
              ),
              lengths.map((length) => length < 10 ? length : -length),
            );
          },
        ),
        { numRuns: 300 },
      )
    ));
});

describe("ForeignDecoder.decode()", () => {
  const record = aRecord("a", { version: 0 });
  const put = { t: "put", record };
  const decode = (text: string | Uint8Array) =>
    new ForeignDecoder().decode(
      typeof text === "string" ? new TextEncoder().encode(text) : text,
    );

  it("reads a put with all of its fields, and a deletion", () => {
    const extra = JSON.parse('{"__proto__":{"x":1},"":[null,1e300,"\\ud800"]}');
    const full = { ...record, extra, "constructor": 7 };
    assert.deepEqual(
      decode(JSON.stringify({ seq: 7, value: { t: "put", record: full } })),
      { taskId: "a", seq: 7, record: full },
    );
    assert.deepEqual(decode('{"seq":1,"value":{"t":"del","taskId":"a"}}'), {
      taskId: "a",
      seq: 1,
    });
    assert.equal(decode(""), undefined);
  });

  it("says what is wrong with a line", () => {
    const utf8 = new TextEncoder().encode(
      JSON.stringify({ seq: 1, value: { ...put, x: "é" } }),
    );
    utf8[utf8.indexOf(0xc3)] ^= 0x80;
    for (
      const [line, problem, alien] of [
        ["{", "a line is no JSON", false],
        [" ", "a line is no JSON", false],
        ["\0\0\0", "a line is no JSON", false],
        [utf8, "a line is no JSON", false],
        ["null", "a line has no sequence number", false],
        [
          JSON.stringify({ value: put }),
          "a line has no sequence number",
          false,
        ],
        [
          JSON.stringify({ seq: 0, value: put }),
          "a line has no sequence number",
          false,
        ],
        ...[
          { t: "put" },
          { t: "del" },
          { t: "put", record: { ...record, version: 0.5 } },
          { t: "put", record: { ...record, status: "workinh" } },
          { t: "put", record: { ...record, lastUpdatedAt: null } },
        ].map((value) =>
          [
            JSON.stringify({ seq: 1, value }),
            "a line holds neither a record nor a deletion",
            false,
          ] as const
        ),
        [
          JSON.stringify({ seq: 1, value: { job: 1 } }),
          "a line holds neither a record nor a deletion",
          true,
        ],
        [
          JSON.stringify({ seq: 1, value: null }),
          "a line holds neither a record nor a deletion",
          true,
        ],
      ] as const
    ) {
      assert.deepEqual(decode(line), { problem, alien }, String(line));
    }
    assert.deepEqual(new ForeignDecoder().decode(undefined), {
      problem: "a line is longer than 256 MiB",
      alien: false,
    });
  });
});
