/** Where and how a run was made: a figure says nothing without it. */
import { arch, cpus, loadavg, platform, release, totalmem } from "node:os";
import process from "node:process";

/** Where and how a run was made. */
export interface About {
  /** When it began, as an ISO 8601 time. */
  readonly date: string;
  /** What makes it again. */
  readonly command: string;
  /** Rounds that were counted. */
  readonly rounds: number;
  /** Whether time of the processor was counted, and not that of a clock. */
  readonly processorTime: boolean;
  /** The model of the processor. */
  readonly processor: string;
  readonly processors: number;
  readonly memoryGb: number;
  readonly system: string;
  /** The system's load in the minute before it began: how much ran or waited, of this and of others. */
  readonly load: number;
}

/** Both of a run: how it was made, and how long it took. */
export interface Timed {
  readonly about: About;
  readonly seconds: number;
}

/** The runtime that runs this, and its version. */
export function runtimeName(): string {
  const { versions } = process as {
    versions: { deno?: string; bun?: string; node: string };
  };
  return versions.deno
    ? `Deno ${versions.deno}`
    : versions.bun
    ? `Bun ${versions.bun}`
    : `Node ${versions.node}`;
}

/**
 * Looks around, before a run.
 *
 * @param task The task of `deno.json` that was called; its arguments are those of this process.
 * @param rounds How many rounds will be counted.
 * @returns What it says of the run; how long that took, when it is asked.
 */
export function aboutRun(task: string, rounds: number): () => Timed {
  const args = process.argv.slice(2).filter((arg) => !/^--json=/.test(arg));
  const started = performance.now();
  const about: About = {
    date: new Date().toISOString(),
    command: ["deno", "task", task, ...args].join(" "),
    rounds,
    processorTime: args.includes("--cpu"),
    processor: cpus()[0]?.model.trim() ?? "unknown",
    processors: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release().split("-")[0]} ${arch()}`,
    load: Math.round(loadavg()[0] * 10) / 10,
  };
  return () => ({
    about,
    seconds: Math.round((performance.now() - started) / 1_000),
  });
}
