/** Counts, read from what each runtime writes for machines. */

/** How the cases of a run ended. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Counts that start a sum. */
export const NONE: Counts = { passed: 0, failed: 0, skipped: 0 };

/** The sum of two counts. */
export function add(a: Counts, b: Counts): Counts {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
  };
}

/** Counts for a person: `3 passed, 0 failed, 1 skipped`. */
export function text(counts: Counts): string {
  return `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
}

/** One case of a report. */
export interface Case {
  readonly name: string;
  readonly outcome: keyof Counts;
  /** Why it failed: a message and, where the runtime tells it, a stack. */
  readonly error?: string;
}

interface Tag {
  readonly name: string;
  readonly kind: "open" | "close" | "empty";
  readonly attributes: ReadonlyMap<string, string>;
  /** What stands behind it, up to the next tag. */
  readonly text: string;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

function unescape(value: string): string {
  return value.replace(
    /&(#x[\da-f]+|#\d+|\w+);/gi,
    (whole, entity: string) =>
      entity.startsWith("#x")
        ? String.fromCodePoint(parseInt(entity.slice(2), 16))
        : entity.startsWith("#")
        ? String.fromCodePoint(parseInt(entity.slice(1), 10))
        : ENTITIES[entity] ?? whole,
  );
}

/** The tags of an XML document. */
function* tags(xml: string): Generator<Tag> {
  let at = 0;
  while ((at = xml.indexOf("<", at)) !== -1) {
    const skipTo = xml.startsWith("<!--", at)
      ? "-->"
      : xml.startsWith("<![CDATA[", at)
      ? "]]>"
      : xml.startsWith("<?", at)
      ? "?>"
      : undefined;
    if (skipTo) {
      const end = xml.indexOf(skipTo, at);
      if (end === -1) throw new Error("the report ends inside a comment");
      at = end + skipTo.length;
      continue;
    }
    const tag =
      /<(\/?)([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>/y;
    tag.lastIndex = at;
    const match = tag.exec(xml);
    if (!match) {
      throw new Error(
        `the report has no tag where one starts: ${xml.slice(at, at + 60)}`,
      );
    }
    const attributes = new Map<string, string>();
    const pairs = match[3].matchAll(
      /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g,
    );
    for (const [, key, double, single] of pairs) {
      attributes.set(key, unescape(double ?? single));
    }
    const kind = match[1] ? "close" : match[4] ? "empty" : "open";
    at = tag.lastIndex;
    const next = xml.indexOf("<", at);
    const text = unescape(xml.slice(at, next === -1 ? undefined : next));
    yield { name: match[2], kind, attributes, text };
  }
}

/**
 * The cases of a JUnit report as Deno, Node and Bun write it.
 *
 * @throws {Error} The text is no such report, or ends early.
 */
export function parseJUnit(xml: string): Case[] {
  const cases: Case[] = [];
  let open: { -readonly [Key in keyof Case]: Case[Key] } | undefined;
  let finished = false;
  for (const { name, kind, attributes, text } of tags(xml)) {
    if (name === "testcase") {
      if (kind !== "close") {
        open = { name: attributes.get("name") ?? "", outcome: "passed" };
      }
      if (kind !== "open" && open) {
        cases.push(open);
        open = undefined;
      }
    } else if (open && kind !== "close") {
      if (name === "failure" || name === "error") {
        open.outcome = "failed";
        open.error = text.trim() || attributes.get("message");
      } else if (name === "skipped") open.outcome = "skipped";
    } else if (name === "testsuites" && kind !== "open") finished = true;
  }
  if (!finished) throw new Error("the report ends before its last tag");
  return cases;
}

/** What stands before each line that the workerd entry writes for machines. */
export const WORKERD_MARK = "@case ";

/** A line of the workerd entry. */
export interface WorkerdCase extends Case {
  /** The file that registered the case. */
  readonly file: string;
}

/** The case that a line of the workerd entry reports; `undefined` for any other line. */
export function parseWorkerdLine(line: string): WorkerdCase | undefined {
  const at = line.indexOf(WORKERD_MARK);
  return at === -1
    ? undefined
    : JSON.parse(line.slice(at + WORKERD_MARK.length));
}

/** Counts the cases of a report. */
export function count(cases: Iterable<Case>): Counts {
  const counts = { ...NONE };
  for (const { outcome } of cases) counts[outcome]++;
  return counts;
}

/** How much of an error is shown where all failures are told together. */
const SHOWN_LINES = 16;
const SHOWN_CHARACTERS = 300;

/** The first lines of an error, and the line that names a test file if there is one. */
export function shorten(error: string): string {
  const lines = error.split("\n").map((line) =>
    line.slice(0, SHOWN_CHARACTERS).trimEnd()
  );
  if (lines.length <= SHOWN_LINES) return lines.join("\n");
  const place = lines.findIndex((line) => /\bat .*_test\.ts:\d+/.test(line));
  const shown = lines.slice(0, SHOWN_LINES);
  return [...shown, "…", ...(place >= SHOWN_LINES ? [lines[place]] : [])]
    .join("\n");
}
