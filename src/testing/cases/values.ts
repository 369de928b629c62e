/** Values that are easy to get wrong. */

/** An object with a member of every awkward name. Made by `JSON.parse`, so that `__proto__` is a member. */
export function awkwardKeys(): Record<string, unknown> {
  return JSON.parse(`{
    "__proto__": { "polluted": true, "__proto__": [1] },
    "constructor": "text",
    "toString": { "": [null, true] },
    "hasOwnProperty": 0,
    "": "empty key",
    " ": "space",
    "a.b": 1, "a": { "b": 2 }, "a[0]": 3, "$set": 4,
    "\\ud800": "lone surrogate", "\\ufffd": "replacement character",
    "2": "digits", "1": "more digits", "01": "a zero in front",
    "é": "one code unit", "e\\u0301": "two code units",
    "line\\u2028\\n\\r\\t\\u0000": "control"
  }`);
}

/** Strings that some encoding folds, cuts or refuses. */
export const STRINGS: readonly string[] = [
  "",
  " leading and trailing ",
  "é 漢 😀 𝒳",
  "e\u0301 is not é",
  "\ud800",
  "\udc00 \ud83d",
  "turned \ude00\ud83d around",
  "\ufffd",
  "\ufeffbyte order mark",
  "\u0000 nul \u0000",
  "\u2028\u2029\u0085\n\r\n\t\b\f\v",
  "\"quotes\" 'and' `ticks` \\ \\u0041 \\",
  "<!-- & -->",
  "2026-07-28T10:00:00.000Z",
  "123",
  "null",
  "ﬁ ß İ ı",
  "x".repeat(9_000),
];

/** Numbers at the edges of what a double can hold. */
export const NUMBERS: readonly number[] = [
  0,
  -0,
  -1,
  0.1 + 0.2,
  1 / 3,
  -1e-7,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 32 + 1,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  2 ** 53,
  2 ** 64,
  1e21,
  1.5e300,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  Number.MIN_VALUE,
  2.2250738585072014e-308,
];

/** Values that are empty, or nearly. */
export const EMPTIES: readonly unknown[] = [
  null,
  false,
  true,
  0,
  "",
  [],
  {},
  [[]],
  [{}],
  [null],
  [[], {}, null, [[], [null]]],
  { a: [], b: {}, c: null },
];

/**
 * Makes an array in an array, and so on.
 *
 * @param levels How many arrays.
 * @returns The outermost.
 */
export function nested(levels: number): unknown {
  return JSON.parse("[".repeat(levels) + "]".repeat(levels));
}
