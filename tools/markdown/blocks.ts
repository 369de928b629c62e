/** The fenced blocks of Markdown. */

/** A block. */
export interface Block {
  /** What follows the opening fence: `ts`, `ts ignore`, `sh`. */
  readonly info: string;
  /** Its text, without the fences and without their indentation. */
  readonly text: string;
  /** The line of the opening fence, from 1. */
  readonly line: number;
}

/** The blocks of a text, in their order. */
export function blocksOf(text: string): Block[] {
  const fence = /^( *)(`{3,}|~{3,})([^\n]*)\n([\s\S]*?)^\1\2[^\S\n]*$/gm;
  return [...text.matchAll(fence)].map((match) => {
    const [, indentation, , info, body] = match;
    return {
      info: info!.trim(),
      text: body!.replaceAll(new RegExp(`^${indentation}`, "gm"), ""),
      line: text.slice(0, match.index).split("\n").length,
    };
  });
}
