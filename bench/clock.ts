/** What time is measured in. */
import process from "node:process";

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/**
 * The time, in milliseconds. With `--cpu` it is what this process has used of the processors, for a
 * machine that has other work: then rows that wait for the disk say nothing.
 */
export const clock: () => number = process.argv.includes("--cpu")
  ? processorMs
  : () => performance.now();
