/** The picture of the page about benchmarks: a panel for each runtime, a mark for each contender. */
import { type RowId, TARGETS } from "../../bench/targets.ts";
import {
  type Part,
  partsOf,
  type Results,
  rowsOn,
  runtimesOf,
} from "./results.ts";

const LABELS = 250;
const PANEL = 180;
const GAP = 32;
const MARGIN = 16;
const ROW = 20;
const TOP = 78;

/** How each contender is marked, and called. */
const MARKS: readonly (readonly [
  part: Part,
  name: string,
  draw: (x: number, y: number) => string,
])[] = [
  [
    "limit",
    "limit",
    (x, y) => `<path class="limit" d="M${x} ${y - 7}v14"/>`,
  ],
  [
    "sqlite",
    "node:sqlite",
    (x, y) =>
      `<rect class="sqlite" x="${x - 4}" y="${y - 4}" width="8" height="8"/>`,
  ],
  [
    "memory",
    "MemoryTaskStore",
    (x, y) => `<circle class="memory" cx="${x}" cy="${y}" r="4.5"/>`,
  ],
  [
    "reference",
    "mcp-durable-tasks",
    (x, y) => `<path class="reference" d="M${x} ${y - 6}l6 11h-12z"/>`,
  ],
  [
    "log",
    "WalTaskStore",
    (x, y) => `<circle class="log" cx="${x}" cy="${y}" r="5"/>`,
  ],
];

const STYLE = `text { font: 12px system-ui, sans-serif; fill: #1f2328; }
.small { font-size: 11px; fill: #59636e; }
.head { font-weight: 600; }
.card { fill: #ffffff; stroke: #d1d9e0; }
.grid { stroke: #e4e8ec; }
.limit { stroke: #59636e; stroke-width: 2.5; }
.sqlite { fill: none; stroke: #9a6700; stroke-width: 2; }
.memory { fill: none; stroke: #1a7f37; stroke-width: 2; }
.reference { fill: #cf222e; }
.log { fill: #0969da; }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc; }
.small { fill: #9198a1; }
.card { fill: #0d1117; stroke: #3d444d; }
.grid { stroke: #262c36; }
.limit { stroke: #9198a1; }
.sqlite { stroke: #d29922; }
.memory { stroke: #3fb950; }
.reference { fill: #f85149; }
.log { fill: #58a6ff; }
}`;

const escape = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** `1000` as `1k`. */
function tick(power: number): string {
  const unit = ["", "k", "M", "G"][Math.floor(power / 3)];
  return `${10 ** (power % 3)}${unit}`;
}

/**
 * Draws the rates of all rows, on a logarithmic scale.
 *
 * @param results What was measured.
 * @returns The picture.
 * @throws {Error} The log was not measured.
 */
export function benchPlot(results: Results): string {
  const runtimes = runtimesOf(results);
  const panels = runtimes.map((runtime) => rowsOn(results, runtime));
  const ids = (Object.keys(TARGETS) as RowId[]).filter((id) =>
    panels.some((rows) => rows.has(id))
  );
  const rates = panels.flatMap((rows) =>
    [...rows.values()].flatMap(({ row }) =>
      Object.values(partsOf(row)).flatMap((part) => part?.median ?? [])
    )
  );
  if (rates.length === 0) {
    throw new Error(
      "Cannot draw: there is no row in the files that were given",
    );
  }
  const low = Math.floor(Math.log10(Math.min(...rates)));
  const high = Math.ceil(Math.log10(Math.max(...rates)));
  const width = 2 * MARGIN + LABELS + panels.length * (PANEL + GAP);
  const bottom = TOP + ids.length * ROW;
  const height = bottom + 48;
  const drawn: string[] = [];
  const text = (x: number, y: number, kind: string, content: string) =>
    drawn.push(`<text x="${x}" y="${y}" ${kind}>${escape(content)}</text>`);
  text(
    MARGIN,
    26,
    'class="head"',
    "Operations a second (further right is faster)",
  );
  let at = MARGIN + 6;
  const present = MARKS.filter(([part]) =>
    panels.some((rows) =>
      [...rows.values()].some(({ row }) => partsOf(row)[part])
    )
  );
  for (const [, name, draw] of present) {
    drawn.push(draw(at, 46));
    text(at + 12, 50, "", name);
    at += 36 + name.length * 7;
  }
  ids.forEach((id, index) =>
    text(MARGIN, TOP + index * ROW + 14, "", TARGETS[id].what)
  );
  panels.forEach((rows, panel) => {
    const left = MARGIN + LABELS + panel * (PANEL + GAP);
    const xOf = (rate: number) =>
      Math.round(
        (left + (Math.log10(rate) - low) / Math.max(1, high - low) * PANEL) *
          10,
      ) / 10;
    text(left, TOP - 8, 'class="head"', runtimes[panel]!);
    for (let power = low; power <= high; power++) {
      const x = xOf(10 ** power);
      drawn.push(`<path class="grid" d="M${x} ${TOP}V${bottom}"/>`);
      if (power >= 0 && power % 2 === 1) {
        text(x, bottom + 16, 'class="small" text-anchor="middle"', tick(power));
      }
    }
    ids.forEach((id, index) => {
      const found = rows.get(id);
      if (!found) return;
      const parts = partsOf(found.row);
      for (const [part, , draw] of MARKS) {
        const rate = parts[part]?.median;
        if (rate) drawn.push(draw(xOf(rate), TOP + index * ROW + 10));
      }
    });
  });
  const [first] = results.logs.flat();
  const { processors, processor, date } = first!.about;
  text(
    MARGIN,
    height - 12,
    'class="small"',
    `Logarithmic; medians. ${processors} x ${processor}, ${date.slice(0, 10)}`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Operations a second of each store beside its limit">
<style>
${STYLE}
</style>
<rect class="card" x="0.5" y="0.5" width="${width - 1}" height="${
    height - 1
  }" rx="9"/>
${drawn.join("\n")}
</svg>
`;
}
