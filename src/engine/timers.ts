/** Timers that keep no process alive, unless asked to, and may be longer than 2^31 ms. */

/** The longest delay that `setTimeout` takes; a longer one fires at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** A timer that runs. */
export interface Timer {
  /** Ends it; nothing happens any more. */
  stop(): void;
}

/**
 * Calls a function once, after a delay of any length.
 *
 * @param call The function.
 * @param delayMs The delay; below zero it counts as zero.
 * @param options `keepAlive`: somebody waits for it, so the process must not end before.
 * @returns The timer.
 */
export function startTimer(
  call: () => void,
  delayMs: number,
  options: { readonly keepAlive?: boolean } = {},
): Timer {
  let id: ReturnType<typeof setTimeout>;
  const arm = (leftMs: number) => {
    const stepMs = Math.min(Math.max(leftMs, 0), LONGEST_MS);
    id = setTimeout(
      () => leftMs > stepMs ? arm(leftMs - stepMs) : call(),
      stepMs,
    );
    // Node, Bun and Deno give an object here, other platforms a number.
    if (!options.keepAlive) (id as { unref?: () => void }).unref?.();
  };
  arm(delayMs);
  return { stop: () => clearTimeout(id) };
}

/**
 * Calls an asynchronous function again and again, with a pause after each
 * call, so that a slow one is never run twice at once.
 *
 * @param call The function; it must not reject.
 * @param pauseMs The pause.
 * @returns The timer.
 */
export function startLoop(call: () => Promise<void>, pauseMs: number): Timer {
  let stopped = false;
  let timer: Timer;
  const next = () => {
    timer = startTimer(async () => {
      await call();
      if (!stopped) next();
    }, pauseMs);
  };
  next();
  return {
    stop() {
      stopped = true;
      timer.stop();
    },
  };
}
