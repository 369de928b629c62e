/** The tests that a document names: `` `tests/a_test.ts`: "title" ``. */

/** A test that is named. */
interface Named {
  readonly file: string;
  readonly titles: readonly string[];
  readonly line: number;
}

function namedIn(text: string): Named[] {
  const pattern = /`((?:tests|tools)\/[\w./-]+\.ts)`(?::((?:,?\s+"[^"]+")+))?/g;
  return [...text.matchAll(pattern)].map((match) => ({
    file: match[1]!,
    titles: [...(match[2] ?? "").matchAll(/"([^"]+)"/g)].map(([, title]) =>
      title!.replace(/\s+/g, " ")
    ),
    line: text.slice(0, match.index).split("\n").length,
  }));
}

/**
 * Tests that a document names and that are not there. A title may have `…` for what differs from case to case.
 *
 * @param file The document.
 * @param text Its text.
 * @param read The text of a file; `undefined` where there is none.
 */
export function checkNamedTests(
  file: string,
  text: string,
  read: (path: string) => string | undefined,
): string[] {
  return namedIn(text).flatMap(({ file: test, titles, line }) => {
    const source = read(test)?.replace(/\s+/g, " ");
    if (source === undefined) return [`${file}:${line}: there is no ${test}`];
    return titles.filter((title) => {
      const parts = title.split("…").map((part) =>
        part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
      );
      return !new RegExp(`["\`]${parts.join("\\$\\{[^`]*?\\}+")}["\`]`).test(
        source,
      );
    }).map((title) => `${file}:${line}: ${test} has no test "${title}"`);
  });
}
