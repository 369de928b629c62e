/** The first line of a log: what it is, and how to read the rest. */

import { StoreDamagedError, StoreFailedError } from "../errors.ts";

const LOG_NAME = "@mcp-durable/tasks";
/** The format that this release reads and writes. */
const FORMAT = 1;

/** What the first line says. */
export interface LogHeader {
  /** How many of the entries a compaction has written; those after it were appended. */
  readonly compacted: number;
}

/**
 * Encodes a header.
 *
 * @param header What it says.
 * @returns The body of the first line.
 */
export function headerBody(header: LogHeader): string {
  const { compacted } = header;
  return JSON.stringify({ log: LOG_NAME, format: FORMAT, compacted });
}

/**
 * Decodes a header.
 *
 * @param body The body of the first line.
 * @param file The log, for errors.
 * @returns What it says.
 * @throws {StoreDamagedError} `ERR_STORE_DAMAGED`: it is no header.
 * @throws {StoreFailedError} `ERR_STORE_FAILED`: it is of another format.
 */
export function parseHeader(body: string, file: string): LogHeader {
  let header: Record<string, unknown>;
  try {
    header = JSON.parse(body) ?? {};
  } catch {
    header = {};
  }
  if (header.log !== LOG_NAME || typeof header.format !== "number") {
    throw new StoreDamagedError(
      file,
      0,
      "the first line is no header of a log",
    );
  }
  if (header.format !== FORMAT) {
    throw new StoreFailedError(
      `read ${file}: it has format ${header.format}, this release reads format ${FORMAT}`,
    );
  }
  return { compacted: Number(header.compacted) };
}
