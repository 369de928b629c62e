/** Plays the demo and draws what it writes: `deno run -A tools/demo_picture.ts` makes `docs/demo.svg`. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Line, terminalPicture } from "./picture/terminal.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

const started = performance.now();
const child = spawn(process.execPath, [
  "run",
  "-A",
  "examples/crash_recovery/demo.ts",
], { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
const ended = new Promise<number | null>((resolve) =>
  child.once("exit", resolve)
);
const lines: Line[] = [];
for await (const text of createInterface({ input: child.stdout })) {
  lines.push({ text, atMs: Math.round(performance.now() - started) });
}
if (await ended !== 0) {
  throw new Error("Cannot draw the demo: it failed");
}
writeFileSync(
  new URL("../docs/demo.svg", import.meta.url),
  terminalPicture(lines, {
    command: "deno task demo",
    columns: 96,
    maxMs: 15_000,
  }),
);
