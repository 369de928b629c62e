/**
 * Measures on the runtime that runs it: `deno run -A bench/main.ts`, `node bench/main.ts`, `bun bench/main.ts`.
 * The options are those of `bench/run.ts`, which runs this on every runtime.
 *
 * Each row stands beside the limit of the same bytes in the same rounds; ratios are taken within a round.
 * Without `REFERENCE` (see `systems.ts`) a figure that was recorded stands in for the reference where
 * there is one (`~`); "create and complete" of 10 KiB and "get" of texts are judged with it alone.
 */
import { writeFileSync } from "node:fs";
import process from "node:process";
import { aboutRun, runtimeName } from "./about.ts";
import { measureFigures } from "./figures/measure.ts";
import { parseOptions } from "./options.ts";
import { formatMeasured, type Measured } from "./report.ts";
import { measure } from "./rounds.ts";
import { payloadRows } from "./rows/payload_rows.ts";
import { progressRows, writeRows } from "./rows/write_rows.ts";
import { reference } from "./systems.ts";
import { FIGURES } from "./targets.ts";

const options = parseOptions(process.argv.slice(2));
const timed = aboutRun("bench", options.rounds);
const isWanted = (id: string) => options.only.some((part) => id.includes(part));
const others = [await reference()].filter((one) => one !== undefined);
const rows = [
  ...writeRows(others),
  ...progressRows(others),
  ...payloadRows(others),
].filter(({ id }) => isWanted(id));
const wantsFigures = options.tasks > 0 && Object.keys(FIGURES).some(isWanted);
const tell = (text: string) => console.error(text);
const measured: Measured = {
  runtime: runtimeName(),
  tasks: options.tasks,
  rows: await measure(rows, options.rounds, tell),
  figures: wantsFigures
    ? await measureFigures(options.tasks, Math.min(options.rounds, 3), tell)
    : [],
};
if (options.json) {
  writeFileSync(
    options.json,
    JSON.stringify({ ...timed(), ...measured }, undefined, 2),
  );
}
console.log(formatMeasured(measured));
