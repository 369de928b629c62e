/** Parts of documents that are made from the sources. */

/**
 * A document with a part put in, between `<!-- Made by …: name -->` and `<!-- end -->`.
 *
 * @param text The document.
 * @param name The part.
 * @param part What it is to be.
 * @throws {Error} The document has no place for it.
 */
export function withPart(text: string, name: string, part: string): string {
  const place = new RegExp(
    `(<!-- Made by [^\\n]*: ${name} -->\\n)[\\s\\S]*?(<!-- end -->)`,
  );
  if (!place.test(text)) {
    throw new Error(`Cannot find the place of ${name} in the document`);
  }
  return text.replace(place, (_, start, end) => `${start}\n${part}\n${end}`);
}

/** The clauses of the store contract, as a table. */
export function clausesTable(
  clauses: Readonly<Record<string, string>>,
): string {
  const rows = Object.entries(clauses).map(([id, text]) =>
    `| **${id}** | ${text.replaceAll("|", "\\|")} |`
  );
  return `| clause | says |\n|---|---|\n${rows.join("\n")}\n`;
}
