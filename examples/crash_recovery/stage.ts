/** What the demo shows: a line that moves on a terminal, plain lines elsewhere. */

import process from "node:process";

const terminal = process.stdout.isTTY === true;
const colours = terminal && !process.env.NO_COLOR;

/** Where the demo speaks to the person who watches. */
export interface Stage {
  /** A heading. */
  heading(text: string): void;
  /** A sentence. */
  say(text: string): void;
  /** A line that the next one of its kind replaces; plain output gets every fifth. */
  move(text: string): void;
  /** A statement that was checked. */
  check(text: string): void;
}

/**
 * Makes a stage on standard output.
 *
 * @returns The stage.
 */
export function createStage(): Stage {
  let moving = false;
  let moves = 0;
  let last = "";
  const line = (text: string) => {
    if (moving) process.stdout.write("\r\x1b[K");
    moving = false;
    process.stdout.write(`${text}\n`);
  };
  return {
    heading: (text) => line(`\n${paint(1, text)}`),
    say: (text) => line(`  ${text}`),
    move(text) {
      if (text === last) return;
      last = text;
      if (terminal) {
        const width = (process.stdout.columns || 80) - 3;
        process.stdout.write(`\r\x1b[K  ${text.slice(0, width)}`);
        moving = true;
      } else if (moves++ % 5 === 0) line(`  ${text}`);
    },
    check: (text) => line(`  ${paint(32, "ok")} ${text}`),
  };
}

function paint(code: number, text: string): string {
  return colours ? `\x1b[${code}m${text}\x1b[0m` : text;
}
