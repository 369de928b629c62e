/** The sentence of the README that says how large the main entry is. */

const SENTENCE =
  /(In a browser\s+bundle,\s+minified\s+and\s+gzipped,\s+it\s+takes\s+)(\d+)(\s+kB)/;

/** A size in thousands of bytes, rounded up. */
function inKilobytes(bytes: number): number {
  return Math.ceil(bytes / 1_000);
}

/**
 * The size that the README states, in thousands of bytes.
 *
 * @throws {Error} It states none.
 */
function statedSize(readme: string): number {
  const stated = SENTENCE.exec(readme)?.[2];
  if (stated !== undefined) return Number(stated);
  throw new Error(
    "Cannot find the sentence of the README that says how many kB the main entry takes in a browser bundle",
  );
}

/**
 * Whether the README is right about the size; a thousand bytes up or down are.
 *
 * @throws {Error} It states none.
 */
export function statesSize(readme: string, bytes: number): boolean {
  return Math.abs(statedSize(readme) - inKilobytes(bytes)) <= 1;
}

/** The README with the size that was measured. */
export function withSize(readme: string, bytes: number): string {
  return readme.replace(SENTENCE, `$1${inKilobytes(bytes)}$3`);
}
