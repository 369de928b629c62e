/**
 * The words that every test file uses, in every runtime: `Deno.test` on Deno,
 * `node:test` on Node and Bun, a list that its entry runs on workerd.
 */

/** A registered case, on workerd. */
export interface CollectedCase {
  readonly name: string;
  readonly body?: () => void | Promise<void>;
  readonly reason?: string;
}

interface Runner {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => void | Promise<void>): void;
  skip(name: string, reason: string): void;
}

/** What the tests registered on workerd, in order. */
export const collected: CollectedCase[] = [];

/** Which runtime this is. */
export const runtime: "deno" | "node" | "bun" | "workerd" =
  globalThis.navigator?.userAgent === "Cloudflare-Workers"
    ? "workerd"
    : "Deno" in globalThis
    ? "deno"
    : "Bun" in globalThis
    ? "bun"
    : "node";

/** A runner that has no groups of its own: their names go in front. */
function flat(
  add: (name: string, body?: () => void | Promise<void>, why?: string) => void,
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
    skip: (name, reason) => add(`${full(name)} # ${reason}`, undefined, reason),
  };
}

async function pick(): Promise<Runner> {
  if (runtime === "deno") {
    return flat((name, body) =>
      Deno.test({ name, ignore: !body, fn: () => body?.() })
    );
  }
  if (runtime === "workerd") {
    return flat((name, body, reason) => collected.push({ name, body, reason }));
  }
  const { describe, it } = await import("node:test");
  return {
    describe: (name, body) => void describe(name, body),
    it: (name, body) => void it(name, async () => await body()),
    skip: (name, reason) => void it(name, { skip: reason }, () => {}),
  };
}

const runner = await pick();

/** Groups cases. */
export const describe = runner.describe;
/** Registers a case. */
export const it = runner.it;
/** Registers a case that does not run here, with the reason. */
export const skip = runner.skip;
