/** Lines from a process that may be killed at any moment. */

import { writeSync } from "node:fs";

/**
 * Writes a line at once: what an asynchronous stream holds dies with the process.
 *
 * @param line The line.
 */
export function say(line: string): void {
  const bytes = new TextEncoder().encode(`${line}\n`);
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(1, bytes, done);
    } catch (error) {
      // The pipe is full: the parent is about to read.
      if ((error as { code?: string }).code !== "EAGAIN") throw error;
    }
  }
}
