/** The bench judges right, and refuses options that it does not have. */
import assert from "node:assert/strict";
import { parseOptions } from "../../bench/options.ts";
import { formatMeasured, judgeRow } from "../../bench/report.ts";
import { measure, type MeasuredRow, spread } from "../../bench/rounds.ts";
import { describe, it } from "../support/runner.ts";

/** A row of rates, by contender, the limit first; one for each round. */
function rowOf(
  id: string,
  rates: Readonly<Record<string, readonly number[]>>,
): Promise<MeasuredRow> {
  const contenders = Object.entries(rates).map(([name, values]) => {
    const left = [values[0], ...values];
    return { name, round: () => Promise.resolve(left.shift()!) };
  });
  const { length } = Object.values(rates)[0];
  return measure([{ id, contenders }], length, () => {}).then(([row]) => row);
}

describe("spread()", () => {
  it("gives the middle and the ends", () => {
    assert.deepEqual(spread([3, 9, 1]), { median: 3, low: 1, high: 9 });
    assert.deepEqual(spread([8, 2, 4, 6]), { median: 5, low: 2, high: 8 });
  });
});

describe("measure()", () => {
  it("does not count the first round, and takes ratios within a round", async () => {
    const calls: number[] = [];
    const contender = (name: string, values: number[]) => ({
      name,
      round: () => {
        calls.push(values[0]);
        return Promise.resolve(values.shift()!);
      },
    });
    const [row] = await measure(
      [{
        id: "x",
        contenders: [
          contender("limit", [1, 100, 10, 1_000]),
          contender("ours", [9, 50, 10, 250]),
        ],
      }],
      3,
      () => {},
    );
    assert.deepEqual(calls, [1, 9, 100, 50, 10, 10, 1_000, 250]);
    assert.deepEqual(row.reached[1].ofLimit, {
      median: 0.5,
      low: 0.25,
      high: 1,
    });
  });
});

describe("judgeRow()", () => {
  it("goes by the reference where it took part", async () => {
    const row = await rowOf("create-1", {
      limit: [100, 100, 100],
      WalTaskStore: [14, 28, 42],
      reference: [10, 20, 40],
    });
    const [{ reached, standIn }] = judgeRow(row, [row]);
    assert.deepEqual([reached, standIn], [true, false]);
  });

  it("goes by what was recorded of it where it did not, and by the limit", async () => {
    const row = await rowOf("create-fsync-64", {
      limit: [100, 100, 100],
      WalTaskStore: [39, 39, 39],
    });
    assert.deepEqual(
      judgeRow(row, [row]).map(({ reached, standIn }) => [reached, standIn]),
      [[true, true], [false, false]],
    );
  });

  it("says nothing where only the reference could tell", async () => {
    const row = await rowOf("get-text-1m", { limit: [1], WalTaskStore: [1] });
    assert.deepEqual(judgeRow(row, [row]), []);
    const measured = { runtime: "here", tasks: 0, rows: [row], figures: [] };
    assert.match(formatMeasured(measured), /of text: needs REFERENCE/);
  });

  it("holds a full record against an empty one", async () => {
    const empty = await rowOf("progress-0", { limit: [9], WalTaskStore: [10] });
    for (const [rate, flat] of [[7, false], [8, true]] as const) {
      const full = await rowOf("progress-10k", {
        limit: [9],
        WalTaskStore: [rate],
      });
      const [{ reached }] = judgeRow(full, [empty, full]);
      assert.equal(reached, flat);
    }
  });
});

describe("formatMeasured()", () => {
  it("judges a figure with 100,000 tasks alone", () => {
    const text = (tasks: number, heap: number) =>
      formatMeasured({
        runtime: "here",
        tasks,
        rows: [],
        figures: [{ id: "heap", name: "WalTaskStore", value: spread([heap]) }],
      });
    assert.match(text(100_000, 275), /idle task: reached/);
    assert.match(text(100_000, 276), /idle task: MISSED/);
    assert.match(text(99_999, 276), /not judged with 99999 tasks/);
  });
});

describe("parseOptions()", () => {
  it("reads options in any order, those by name before --short", () => {
    const { rounds, tasks, runtimes, only } = parseOptions(
      ["--rounds=2", "--short", "--runtime=bun", "--only=get,open"],
    );
    assert.deepEqual([rounds, tasks, runtimes, only], [
      2,
      5_000,
      ["bun"],
      ["get", "open"],
    ]);
  });

  it("refuses what is none, and says what there is", () => {
    for (
      const arg of [
        "--rounds=x",
        "--tasks=-1",
        "--runtime=node22",
        "--json",
        "x",
      ]
    ) assert.throws(() => parseOptions([arg]), /Cannot take .+--rounds=N/);
  });
});
