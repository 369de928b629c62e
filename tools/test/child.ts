/** Child processes that cannot outlive their deadline, nor leave children of their own. */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";

/** What to start. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Variables set beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** How a command ended. */
export interface Ending {
  /** The exit code, or `undefined` when a signal ended it. */
  readonly code: number | undefined;
  /** The signal that ended it. */
  readonly signal: string | undefined;
  /** Whether it was killed because its time was over. */
  readonly late: boolean;
}

/** How long the pipes of a process that has ended may stay open in its children. */
const DRAIN_MS = 2_000;

const running = new Set<ChildProcess>();

/** Kills a child and all that it started: it leads a process group of its own. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL");
  }
}

/** Kills what is running when this process is told to stop: groups of their own do not hear of Ctrl-C. */
export function stopChildrenOnSignals(): void {
  for (
    const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], [
      "SIGHUP",
      129,
    ]] as const
  ) {
    process.on(signal, () => {
      for (const child of running) killGroup(child);
      process.exit(code);
    });
  }
}

/**
 * Runs a command to its end, and hands over its output as it comes.
 *
 * @throws {Error} The program cannot be started.
 */
export function run(
  command: Command,
  deadlineMs: number,
  out: (text: string) => void,
): Promise<Ending> {
  const colour: Record<string, string> =
    process.stdout.isTTY && !process.env.NO_COLOR ? { FORCE_COLOR: "1" } : {};
  return new Promise((resolve, reject) => {
    const child = spawn(command.program, command.args, {
      cwd: command.cwd,
      env: { ...process.env, ...colour, ...command.env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    running.add(child);
    let late = false;
    const deadline = setTimeout(() => {
      late = true;
      killGroup(child);
    }, deadlineMs);
    let drain: ReturnType<typeof setTimeout> | undefined;
    const settle = () => {
      clearTimeout(deadline);
      clearTimeout(drain);
      running.delete(child);
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", out);
    }
    child.on("error", (error) => {
      settle();
      reject(new Error(`cannot start ${command.program}: ${error.message}`));
    });
    child.on("exit", () => {
      drain = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, DRAIN_MS);
    });
    child.on("close", (code, signal) => {
      settle();
      resolve({ code: code ?? undefined, signal: signal ?? undefined, late });
    });
  });
}
