/** Links and headings of Markdown, as GitHub, JSR and npm read them; what is in code counts as neither. */

/** A link or a picture. */
export interface Link {
  /** What it points to, as it is written. */
  readonly target: string;
  /** The line, from 1. */
  readonly line: number;
  /** Where the target begins in the text. */
  readonly at: number;
}

/** The same text with all code as spaces, so that places stay. */
function withoutCode(text: string): string {
  const blank = (code: string) => code.replace(/[^\n]/g, " ");
  return text
    .replace(/^( *)(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1\2[^\n]*$/gm, blank)
    .replace(/(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, blank)
    .replace(/<!--[\s\S]*?-->/g, blank);
}

/** The links of a text, in their order: `[a](b)`, `![a](b)`, `[a]: b`, `href="b"` and `src="b"`. */
export function linksOf(text: string): Link[] {
  const plain = withoutCode(text);
  const found: Link[] = [];
  const patterns = [
    /\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/dg,
    /^\s*\[[^\]]+\]:\s*<?(\S+?)>?\s*$/dgm,
    /\b(?:href|src)="([^"]+)"/dg,
  ];
  for (const pattern of patterns) {
    for (const match of plain.matchAll(pattern)) {
      const at = match.indices![1]![0];
      found.push({
        target: match[1],
        line: plain.slice(0, at).split("\n").length,
        at,
      });
    }
  }
  return found.sort((a, b) => a.at - b.at);
}

/** The anchors of a text's headings, by GitHub's rule; a heading that comes again gets a number. */
export function anchorsOf(text: string): Set<string> {
  const inCode = withoutCode(text);
  const anchors = new Set<string>();
  const times = new Map<string, number>();
  for (const match of text.matchAll(/^#{1,6} +(.+?)(?: +#+)?$/gm)) {
    if (inCode[match.index] !== "#") continue;
    const slug = match[1]
      .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-");
    const count = times.get(slug) ?? 0;
    times.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  for (const match of inCode.matchAll(/<a (?:id|name)="([^"]+)"/g)) {
    anchors.add(match[1]);
  }
  return anchors;
}

/** The path of a link that stays in the repository, without its anchor; `undefined` for all others. */
export function pathOf(target: string): string | undefined {
  if (/^[a-z][a-z\d+.-]*:|^\/\//i.test(target)) return undefined;
  return decodeURI(target.replace(/[#?].*$/, ""));
}
