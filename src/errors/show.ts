/** Values inside messages. */

/**
 * Cuts a text.
 *
 * @param text The text.
 * @param length Code units that are kept.
 * @returns The text, or its beginning and an ellipsis.
 */
export function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/**
 * Shows a value inside an error message: strings quoted, long ones cut, never
 * throwing whatever it is given.
 *
 * @param value The value.
 * @returns A short text.
 */
export function show(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(cut(value, 80));
  }
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return "a function";
  if (value === null || typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return "an object";
}

/**
 * Shows a path inside an error message: whole, since somebody has to find it.
 *
 * @param path The path.
 * @returns It, quoted.
 */
export function showPath(path: string): string {
  return JSON.stringify(path);
}
