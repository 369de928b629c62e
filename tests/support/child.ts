/**
 * Child processes on the runtime that runs the test: Deno needs `run -A` in
 * front of the script, Node and Bun take it as it is.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { runtime } from "./runner.ts";

/** How a child ended. */
export interface ChildExit {
  /** Its exit code; `null` if a signal ended it. */
  readonly code: number | null;
  /** The signal that ended it, if one did. */
  readonly signal: string | null;
}

/** How to start a child. */
export interface ChildOptions {
  /** The arguments of the script. */
  readonly args?: readonly string[];
  /** Variables to add to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory; by default the parent's. */
  readonly cwd?: string;
  /** Whether the script may call `gc()`; on Bun it is `Bun.gc(true)`. */
  readonly gc?: boolean;
  /** The program, and what goes before the script; by default this runtime's. */
  readonly command?: readonly [program: string, ...args: string[]];
}

/** A script that runs in a process of its own. */
export interface Child {
  /** The process. */
  readonly process: ChildProcess;
  /** Settles when the process has ended and all of its output was read. */
  readonly exited: Promise<ChildExit>;
  /** Every whole line of its standard output so far. */
  readonly lines: readonly string[];
  /** All of its standard error so far. */
  stderr(): string;
  /**
   * Waits for a line of its standard output, past or to come.
   *
   * @param test Which line.
   * @returns The line.
   * @throws When the output ends without it.
   */
  line(test: (line: string) => boolean): Promise<string>;
  /**
   * Sends a line to its standard input.
   *
   * @param line The text, without the newline.
   */
  send(line: string): void;
  /**
   * Kills it, and waits until it is gone.
   *
   * @param signal Which signal; by default SIGKILL.
   * @returns How it ended.
   */
  kill(signal?: NodeJS.Signals): Promise<ChildExit>;
}

/**
 * The command line that runs a script on this runtime.
 *
 * @param script The script, a `file:` URL.
 * @param args Its arguments.
 * @returns The program and all of its arguments.
 */
export function scriptCommand(
  script: URL,
  args: readonly string[] = [],
): [program: string, args: string[]] {
  const path = fileURLToPath(script);
  return [
    process.execPath,
    runtime === "deno" ? ["run", "-A", path, ...args] : [path, ...args],
  ];
}

function commandOf(
  script: URL,
  { args = [], gc, command }: ChildOptions,
): [program: string, args: string[]] {
  if (command) {
    const [program, ...before] = command;
    return [program, [...before, fileURLToPath(script), ...args]];
  }
  const [program, own] = scriptCommand(script, args);
  return [program, gc ? withGc(own) : own];
}

function withGc(command: string[]): string[] {
  if (runtime === "node") return ["--expose-gc", ...command];
  if (runtime !== "deno") return command;
  return [command[0], "--v8-flags=--expose-gc", ...command.slice(1)];
}

/**
 * Starts a script on this runtime.
 *
 * @param script The script, a `file:` URL.
 * @param options Its arguments and environment.
 * @returns The child; await its `exited` or `kill()` before the test ends.
 */
export function startChild(script: URL, options: ChildOptions = {}): Child {
  const [program, args] = commandOf(script, options);
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  const notify = () => listeners.forEach((listener) => listener());
  let ended = false;
  let partial = "";
  let errors = "";

  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => {
    const parts = (partial + text).split("\n");
    partial = parts.pop()!;
    lines.push(...parts);
    notify();
  });
  child.stderr.setEncoding("utf8");
  child.stderr.on("data", (text: string) => errors += text);
  // A child that was killed cannot take the line that was on its way to it.
  child.stdin.on("error", () => {});

  const exited = once(child, "close").then(([code, signal]) => {
    ended = true;
    notify();
    return { code, signal } as ChildExit;
  });

  return {
    process: child,
    exited,
    lines,
    stderr: () => errors,
    line: (test) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = lines.find(test);
          if (found === undefined && !ended) return;
          listeners.delete(look);
          if (found !== undefined) resolve(found);
          else reject(new Error(`The child ended without the line: ${errors}`));
        };
        listeners.add(look);
        look();
      }),
    send: (line) => void child.stdin.write(`${line}\n`),
    kill: (signal = "SIGKILL") => {
      child.kill(signal);
      return exited;
    },
  };
}
