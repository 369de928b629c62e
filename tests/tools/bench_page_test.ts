/** The page about benchmarks says what the JSON says, and no more. */
import assert from "node:assert/strict";
import type { BenchRun } from "../../bench/report.ts";
import { spread } from "../../bench/rounds.ts";
import { benchPlot } from "../../tools/bench/plot.ts";
import { readResults, type Results } from "../../tools/bench/results.ts";
import { comparisonPart, resultsPart } from "../../tools/bench/tables.ts";
import { describe, it } from "../support/runner.ts";

const ABOUT = {
  date: "2031-05-06T07:08:09.000Z",
  command: "deno task bench --rounds=2",
  rounds: 2,
  processorTime: false,
  processor: "Abacus 9 & <Co>",
  processors: 4,
  memoryGb: 17,
  system: "linux 6.1 x64",
  load: 0.4,
};

/** A row of constant rates, by contender, the limit first. */
function row(id: string, rates: Readonly<Record<string, number>>) {
  const [limit] = Object.values(rates);
  return {
    id,
    rounds: 2,
    rates: Object.values(rates).map((rate) => [rate, rate]),
    reached: Object.entries(rates).map(([name, rate]) => ({
      name,
      rate: spread([rate, rate]),
      ofLimit: spread([rate / limit!]),
    })),
  };
}

const RUN: BenchRun = {
  about: ABOUT,
  seconds: 240,
  runtime: "Node 24.99.1",
  tasks: 5_000,
  rows: [
    row("create-1", {
      "writeSync, 1 at once": 300_000,
      "node:sqlite NORMAL, 1 at once": 17_000,
      MemoryTaskStore: 650_000,
      WalTaskStore: 99_000,
    }),
    row("create-fsync-64", {
      "writeSync + fdatasync, 64 at once": 200_000,
      "node:sqlite FULL, 64 at once": 29_000,
      MemoryTaskStore: 640_000,
      WalTaskStore: 50_000,
    }),
    row("get-text-1m", {
      "JSON.parse": 900,
      MemoryTaskStore: 800,
      WalTaskStore: 700,
    }),
  ],
  figures: [{ id: "heap", name: "WalTaskStore", value: spread([251]) }],
};

const KV = {
  about: { ...ABOUT, command: "deno task bench:deno-kv 2" },
  seconds: 61,
  runtime: "Deno 2.99.2",
  target: 0.7,
  denoKv: [{
    id: "create 300 B, 1 callers",
    pair: [
      { name: "raw check-and-set", rate: spread([2_000]) },
      { name: "DenoKvTaskStore", rate: spread([1_300]) },
    ],
    ratio: spread([0.6, 0.65, 0.72]),
    reached: false,
  }],
};

const results = (...files: unknown[]): Results =>
  readResults(
    files.map((value, index) => [`${index}.json`, JSON.stringify(value)]),
  );

/** The cells of the line that begins with a text. */
function cells(markdown: string, first: string): string[] {
  const line = markdown.split("\n").find((line) =>
    line.startsWith(`| ${first} |`)
  );
  assert.ok(line, `no row ${first} in ${markdown}`);
  return line.split("|").slice(2, -1).map((cell) => cell.trim());
}

describe("readResults()", () => {
  it("tells what each bench wrote apart", () => {
    const { logs, denoKv } = results([RUN], KV, RUN);
    assert.deepEqual([logs.length, denoKv.length], [2, 1]);
    assert.deepEqual(logs[1], [RUN]);
  });

  it("refuses what no bench wrote", () => {
    for (const value of [{}, [], null, [{ rows: [] }], [RUN, KV]]) {
      assert.throws(() => results(value), /Cannot take 0\.json: .+--json=FILE/);
    }
  });
});

describe("resultsPart()", () => {
  it("says where, when, with what and for how long", () => {
    const part = resultsPart(results([RUN], KV));
    for (
      const text of [
        "4 x Abacus 9 & <Co>, 17 GiB, linux 6.1 x64",
        "2031-05-06, for 4 minutes",
        "2031-05-06, for 61 s",
        "Versions: Node 24.99.1",
        "`deno task bench --rounds=2`; 2 rounds",
        "### Node 24.99.1, by the time of the clock",
      ]
    ) assert.ok(part.includes(text), `${text} in ${part}`);
    assert.doesNotMatch(part, /shared with other work/);
  });

  it("has each row beside its limit, and says what stood in or is missing", () => {
    const part = resultsPart(results([RUN]));
    assert.deepEqual(cells(part, "create, page cache, 1 caller"), [
      "300.0k, writeSync, 1 at once",
      "17.0k",
      "650.0k",
      "99.0k (99.0k to 99.0k)",
      "0.33",
      "1.6 of 1.3x the reference ~",
    ]);
    assert.equal(
      cells(part, "create, fsync, 64 callers").at(-1),
      "20 of 20x the reference ~; **missed:** 0.25 of 0.4x the limit",
    );
    assert.equal(
      cells(part, "get, 1 MiB of text").at(-1),
      "needs `REFERENCE`",
    );
    assert.equal(
      cells(part, "heap of an idle task").at(-1),
      "not judged: it is for 100000 tasks",
    );
  });

  it("has a column for the reference where it took part", () => {
    const measured = {
      ...RUN,
      rows: [row("create-1", { limit: 100, WalTaskStore: 40, reference: 20 })],
    };
    assert.deepEqual(
      cells(
        resultsPart(results([measured])),
        "create, page cache, 1 caller",
      ).slice(-3),
      ["20", "0.40", "2.0 of 1.3x the reference"],
    );
  });

  it("leaves flushes out of a run by the processor's time, and names a shared machine", () => {
    const about = { ...ABOUT, processorTime: true, load: 3.1 };
    const part = resultsPart(results([{ ...RUN, about }]));
    assert.doesNotMatch(part, /create, fsync/);
    assert.match(part, /wait for a flush are left out/);
    assert.match(part, /was 3\.1, .+\*\*shared with other work\*\*/);
    assert.match(
      comparisonPart(results([{ ...RUN, about }])),
      /\*\*shared with other work\*\*; by the time of the processor/,
    );
  });

  it("shows a row on Deno KV that misses", () => {
    assert.deepEqual(cells(resultsPart(results(KV)), KV.denoKv[0]!.id), [
      "2.0k, raw check-and-set",
      "1.3k, DenoKvTaskStore",
      "**missed:** 0.65 (0.60 to 0.72)",
    ]);
  });
});

describe("comparisonPart()", () => {
  it("takes Node, and of a row the first file that can tell", () => {
    const cpu = {
      ...RUN,
      about: { ...ABOUT, processorTime: true },
      rows: [
        row("create-1", { limit: 100, WalTaskStore: 42 }),
        row("create-fsync-64", { limit: 100, WalTaskStore: 99 }),
      ],
    };
    const part = comparisonPart(
      results([{ ...RUN, runtime: "Deno 2.99.2" }, cpu], [RUN]),
    );
    assert.match(part, /on Node 24\.99\.1, .+2031-05-06; /);
    assert.match(
      part,
      /the rest by the time of the processor, flushes by the time of the clock/,
    );
    const last = (id: string) => cells(part, id).slice(-2);
    // What was recorded of the reference was by the clock.
    assert.deepEqual(last("create, page cache, 1 caller"), ["42", ""]);
    assert.deepEqual(last("create, fsync, 64 callers"), ["50.0k", "20x ~"]);
  });

  it("marks what was recorded elsewhere, and not what was measured", () => {
    assert.equal(
      cells(comparisonPart(results([RUN])), "create, page cache, 1 caller")
        .at(-1),
      "1.6x ~",
    );
    const measured = {
      ...RUN,
      rows: [row("create-1", { limit: 100, WalTaskStore: 40, reference: 20 })],
    };
    assert.equal(
      cells(comparisonPart(results([measured])), "create, page cache, 1 caller")
        .at(-1),
      "2.0x",
    );
  });

  it("refuses results without the log", () => {
    assert.throws(() => comparisonPart(results(KV)), /no file of `deno task/);
  });
});

describe("benchPlot()", () => {
  it("marks each contender at its rate, in a panel for each runtime", () => {
    const picture = benchPlot(
      results([RUN, { ...RUN, runtime: "Bun 9.9.9" }], KV),
    );
    assert.match(picture, />Node 24\.99\.1<.*>Bun 9\.9\.9</s);
    assert.match(picture, /Abacus 9 &amp; &lt;Co>/);
    const marks = (kind: string) =>
      [...picture.matchAll(
        new RegExp(`class="${kind}" [cx]+="([\\d.]+)"`, "g"),
      )]
        .map(([, x]) => Number(x));
    // One in the legend, and one a row and panel.
    assert.equal(marks("log").length, 1 + 2 * 3);
    assert.equal(marks("sqlite").length, 1 + 2 * 2);
    assert.doesNotMatch(picture, /class="reference"/);
    const [, flushed, create, text] = marks("log"); // as the targets are ordered
    assert.ok(text! < flushed! && flushed! < create!, picture);
    assert.match(picture, /prefers-color-scheme: dark/);
  });

  it("refuses results without a row", () => {
    assert.throws(() => benchPlot(results(KV)), /there is no row/);
  });
});
