/** A picture of a terminal: SVG in which lines appear at the times at which they were written. */

/** A line, and when it was written. */
export interface Line {
  /** The text, without colours. */
  readonly text: string;
  /** Milliseconds since the beginning. */
  readonly atMs: number;
}

/** How the picture looks. */
export interface PictureOptions {
  /** What was typed. */
  readonly command: string;
  /** How many characters fit a row. */
  readonly columns: number;
  /** How long the picture plays at most, in milliseconds; a longer recording is played faster. */
  readonly maxMs: number;
}

const ROW = 19;
const COLUMN = 7.83;
const MARGIN = 18;
const BAR = 34;

/** Lines that a terminal replaces by the next one. */
const isMoving = ({ text }: Line) => text.startsWith("  working: ");

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** Breaks a text at spaces; what follows the first row is set in as far. */
export function wrap(text: string, columns: number): string[] {
  const indentation = /^ *(?:ok )?/.exec(text)![0].length;
  const rows: string[] = [];
  let rest = text;
  while (rest.length > columns) {
    const space = rest.lastIndexOf(" ", columns);
    const end = space > indentation ? space : columns;
    rows.push(rest.slice(0, end));
    rest = " ".repeat(indentation) + rest.slice(end).trimStart();
  }
  return [...rows, rest];
}

/** A row's text with its colours. */
function painted(text: string): string {
  if (/^ {2}ok /.test(text)) {
    return `  <tspan class="ok">ok</tspan>${escape(text.slice(4))}`;
  }
  return /^\S/.test(text)
    ? `<tspan class="heading">${escape(text)}</tspan>`
    : escape(text);
}

/**
 * Draws a recording. Without animation (or for who wants none) the last state is seen.
 *
 * @param lines What was written.
 * @param options How it looks.
 * @returns The picture.
 */
export function terminalPicture(
  lines: readonly Line[],
  { command, columns, maxMs }: PictureOptions,
): string {
  const end = lines.at(-1)?.atMs ?? 0;
  const speed = Math.min(1, maxMs / Math.max(end, 1));
  const seconds = (atMs: number) => (atMs * speed / 1_000).toFixed(2);
  const rows: string[] = [];
  let y = BAR + MARGIN;
  const row = (text: string, kind: string) => {
    rows.push(
      `<text x="${MARGIN}" y="${y}" ${kind}>${text}</text>`,
    );
  };
  row(`<tspan class="ok">$</tspan> ${escape(command)}`, "");
  y += ROW;
  lines.forEach((line, index) => {
    const next = lines[index + 1];
    const from = `animation-delay:${seconds(line.atMs)}s`;
    if (isMoving(line) && next && isMoving(next)) {
      const shown = seconds(next.atMs - line.atMs);
      row(
        painted(line.text.slice(0, columns)),
        `class="moving" style="${from};animation-duration:${shown}s"`,
      );
      return; // the next one takes its row
    }
    for (const part of wrap(line.text, columns)) {
      if (part.trim()) row(painted(part), `class="line" style="${from}"`);
      y += ROW;
    }
  });
  const width = Math.ceil(columns * COLUMN + 2 * MARGIN);
  const height = y + MARGIN - ROW / 2;
  const lights = ["#ff5f57", "#febc2e", "#28c840"].map((colour, index) =>
    `<circle cx="${22 + 20 * index}" cy="18" r="6" fill="${colour}"/>`
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${
    escape(command)
  } in a terminal">
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d6deeb; white-space: pre; }
.heading { font-weight: bold; fill: #ffffff; }
.ok { fill: #7ee787; }
.line { animation: appear 1ms backwards; }
.moving { opacity: 0; animation: show 1ms steps(1); }
@keyframes appear { from { opacity: 0; } }
@keyframes show { from, to { opacity: 1; } }
@media (prefers-reduced-motion: reduce) { .line, .moving { animation: none; } }
</style>
<rect width="${width}" height="${height}" rx="9" fill="#10161f"/>
${lights.join("\n")}
${rows.join("\n")}
</svg>
`;
}
