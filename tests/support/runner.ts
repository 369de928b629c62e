/**
 * The words that every test file uses, in every runtime: `Deno.test` on Deno,
 * `node:test` on Node and Bun, a list that the entry runs on workerd.
 *
 * Each file that registers a case is noted in the file that `TEST_FILES_SEEN`
 * names, so that `tools/test.ts` can tell a file that was lost from one that passed.
 */

/** A registered case, on workerd. */
export interface CollectedCase {
  /** Its groups and its name, joined by ` > `. */
  readonly name: string;
  /** What runs; absent on a case that is skipped. */
  readonly body?: () => void | Promise<void>;
}

interface Runner {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => void | Promise<void>): void;
  skip(name: string, reason: string): void;
}

/** Which runtime this is. */
export const runtime: "deno" | "node" | "bun" | "workerd" =
  globalThis.navigator?.userAgent === "Cloudflare-Workers"
    ? "workerd"
    : "Deno" in globalThis
    ? "deno"
    : "Bun" in globalThis
    ? "bun"
    : "node";

/** What the tests registered on workerd since the entry last took it, in order. */
export const collected: CollectedCase[] = [];

/** The longest time that a case may take, in milliseconds: a case that hangs fails under its own name. */
const CASE_MS = 300_000;

const { setTimeout, clearTimeout } = globalThis; // some cases put others in their place

/** Runs the body of a case under its deadline. */
async function inTime(body: () => void | Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the case takes more than ${CASE_MS} ms`)),
      CASE_MS,
    );
  });
  try {
    await Promise.race([body(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A runner for a runtime that has no groups of its own: their names go in front. */
function flat(
  add: (name: string, body?: CollectedCase["body"]) => void,
): Runner {
  const groups: string[] = [];
  const full = (name: string) => [...groups, name].join(" > ");
  return {
    describe(name, body) {
      groups.push(name);
      try {
        body();
      } finally {
        groups.pop();
      }
    },
    it: (name, body) => add(full(name), body),
    skip: (name, reason) => add(`${full(name)} # ${reason}`),
  };
}

/** Writes down, once for each file, which test file is registering cases. */
async function noteFiles(runner: Runner): Promise<Runner> {
  const { default: process } = await import("node:process");
  const list = process.env.TEST_FILES_SEEN;
  if (!list) return runner;
  const { appendFileSync } = await import("node:fs");
  const { fileURLToPath } = await import("node:url");
  // Bun loads this module once for all files, so the file is asked for at each case.
  const file = runtime === "deno"
    ? () => fileURLToPath(Deno.mainModule)
    : runtime === "bun"
    ? () => (globalThis as unknown as { Bun: { main: string } }).Bun.main
    : () => process.argv[1];
  let noted: string | undefined;
  const note = () => {
    const now = file();
    if (now === noted) return;
    noted = now;
    appendFileSync(list, now + "\n");
  };
  return {
    describe: runner.describe,
    it(name, body) {
      note();
      runner.it(name, body);
    },
    skip(name, reason) {
      note();
      runner.skip(name, reason);
    },
  };
}

async function pick(): Promise<Runner> {
  if (runtime === "workerd") {
    return flat((name, body) =>
      collected.push(body ? { name, body } : { name })
    );
  }
  if (runtime === "deno") {
    return await noteFiles(
      flat((name, body) =>
        Deno.test({ name, ignore: !body, fn: () => body?.() })
      ),
    );
  }
  const { describe, it } = await import("node:test");
  return await noteFiles({
    describe: (name, body) => void describe(name, body),
    it: (name, body) => void it(name, () => body()),
    skip: (name, reason) => void it(name, { skip: reason }, () => {}),
  });
}

const runner = await pick();

/** Groups cases. */
export const describe = runner.describe;
/** Registers a case. */
export function it(name: string, body: () => void | Promise<void>): void {
  runner.it(name, () => inTime(body));
}
/** Registers a case that does not run here, with the reason. */
export const skip = runner.skip;
