/** Which files are published. */
import ts from "typescript";
import { posix } from "node:path";

/** What is published besides sources and what the README leads to. */
const DOCUMENTS: ReadonlySet<string> = new Set([
  "CHANGELOG.md",
  "LICENSE",
  "README.md",
  "deno.json",
]);

/**
 * The files that entries reach, types too, themselves included.
 *
 * @param entries The entries, named from the root.
 * @param read Gives the text of a file.
 * @throws What `read` throws of a file that is not there.
 */
export function reached(
  entries: readonly string[],
  read: (file: string) => string,
): string[] {
  const files = new Set(entries.map((entry) => posix.normalize(entry)));
  for (const file of files) {
    const { importedFiles } = ts.preProcessFile(read(file), true, true);
    for (const { fileName } of importedFiles) {
      if (!fileName.startsWith(".")) continue;
      files.add(posix.join(posix.dirname(file), fileName));
    }
  }
  return [...files].sort();
}

/**
 * What is published and should not be, and the other way round, one line each.
 *
 * @param published What would be published.
 * @param sources What the entries reach.
 * @param linked What the README leads to.
 */
export function comparePublished(
  published: readonly string[],
  sources: readonly string[],
  linked: readonly string[],
): string[] {
  const is = new Set(published);
  const shall = new Set([...sources, ...linked, ...DOCUMENTS]);
  return [
    ...[...is].filter((file) => !shall.has(file)).map((file) =>
      `${file} would be published, and neither an entry nor the README leads to it`
    ),
    ...[...shall].filter((file) => !is.has(file)).map((file) =>
      `${file} would not be published: publish.include of deno.json leaves it out`
    ),
  ];
}
