/** What a run of the bench measures. */

/** The runtimes that are measured. */
export const BENCH_RUNTIMES = ["deno", "node24", "bun"] as const;

/** One of {@link BENCH_RUNTIMES}. */
export type BenchRuntime = typeof BENCH_RUNTIMES[number];

/** What a run measures. */
export interface BenchOptions {
  /** Where; this runtime alone if it is one of `main.ts`. */
  readonly runtimes: readonly BenchRuntime[];
  /** Rounds that are counted. */
  readonly rounds: number;
  /** Tasks of the large stores; 0: without their figures. */
  readonly tasks: number;
  /** Only rows and figures whose id has one of these in it. */
  readonly only: readonly string[];
  /** Where the JSON goes. */
  readonly json: string | undefined;
}

const USAGE =
  "the options are --runtime=deno|node24|bun, --short, --rounds=N, --tasks=N, --only=TEXT,…, --cpu and --json=FILE";

const DEFAULTS: BenchOptions = {
  runtimes: BENCH_RUNTIMES,
  rounds: 7,
  tasks: 100_000,
  only: [""],
  json: undefined,
};

/** About a minute for each runtime. */
const SHORT = { rounds: 3, tasks: 5_000 };

function wholeNumber(arg: string, text: string): number {
  const value = Number(text);
  if (text !== "" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`Cannot take ${arg}: a whole number is needed; ${USAGE}`);
}

/**
 * Reads the arguments.
 *
 * @param args The arguments, in any order.
 * @returns What they say.
 * @throws {Error} One of them is none.
 */
export function parseOptions(args: readonly string[]): BenchOptions {
  const options: {
    -readonly [Name in keyof BenchOptions]: BenchOptions[Name];
  } = { ...DEFAULTS, ...(args.includes("--short") && SHORT) };
  const runtimes: BenchRuntime[] = [];
  for (const arg of args) {
    const [name, text = ""] = arg.split(/=(.*)/s);
    const runtime = BENCH_RUNTIMES.find((one) => one === text);
    if (name === "--runtime" && runtime) runtimes.push(runtime);
    else if (name === "--rounds") {
      options.rounds = Math.max(1, wholeNumber(arg, text));
    } else if (name === "--tasks") options.tasks = wholeNumber(arg, text);
    else if (name === "--only") options.only = text.split(",");
    else if (name === "--json" && text) options.json = text;
    else if (arg !== "--short" && arg !== "--cpu") {
      throw new Error(`Cannot take ${arg}: ${USAGE}`);
    }
  }
  if (runtimes.length > 0) options.runtimes = runtimes;
  return options;
}
