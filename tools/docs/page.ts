/** The page of the API, made of what the sources say. */
import type { Doc, Documented, Entry, Library, Member } from "./read.ts";

/** A row of `TASK_ERRORS`. */
export interface ErrorRow {
  /** The name of the class. */
  readonly name: string;
  /** The code on the wire. */
  readonly rpcCode: number;
  /** What to do. */
  readonly remedy: string;
}

/** What the page needs to know besides the sources. */
export interface PageOptions {
  /** The package. */
  readonly name: string;
  /** `TASK_ERRORS`. */
  readonly errors: Readonly<Record<string, ErrorRow>>;
}

/** The groups of an entry, in their order: what belongs there, if nothing before took it. */
const GROUPS: readonly (readonly [
  title: string,
  belongs: (symbol: Documented) => boolean,
])[] = [
  [
    "Shapes of the protocol",
    ({ file }) =>
      /^src\/model\/(?:content_block|form_schema|sampling|input_request|input_response|wire)\.ts$/
        .test(file),
  ],
  ["Classes", ({ kind }) => kind === "class"],
  ["Functions", ({ kind }) => kind === "function"],
  ["Options and interfaces", ({ kind }) => kind === "interface"],
  ["Types", ({ kind }) => kind === "type"],
  ["Constants", ({ kind }) => kind === "variable"],
];

/** The same order, but what clients see last. */
const ORDER: readonly number[] = [1, 2, 3, 4, 5, 0];

const anchor = (name: string) => `#${name.toLowerCase()}`;

/** One paragraph of Markdown that fits a cell of a table. */
const cell = (text: string) => text.replace(/\s+/g, " ").replaceAll("|", "\\|");

/** Code in a line of Markdown. */
function code(text: string): string {
  return text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``;
}

class Page {
  readonly #library: Library;
  readonly #options: PageOptions;
  /** The names that have a heading, or a row in the table of errors. */
  readonly #known: ReadonlySet<string>;
  readonly #errorNames: ReadonlySet<string>;
  readonly #shown = new Set<string>();

  constructor(library: Library, options: PageOptions) {
    this.#library = library;
    this.#options = options;
    this.#errorNames = new Set(
      Object.values(options.errors).flatMap(({ name }) => [name, `is${name}`]),
    );
    this.#known = new Set(
      library.entries.flatMap(({ symbols }) => symbols.map(({ name }) => name)),
    );
  }

  /** `{@linkcode A.b}` as a link, where `A` is on the page. */
  #text(text: string): string {
    return text.replace(
      /\{@link(?:code)?\s+([\w.]+)(?:\s*\|?\s*([^}]*))?\}/g,
      (_, target: string, label: string) => this.#link(target, label),
    );
  }

  #link(target: string, label?: string): string {
    const name = target.split(".")[0]!;
    const shown = code(label || target);
    if (this.#errorNames.has(name)) return `[${shown}](#errors)`;
    return this.#known.has(name) ? `[${shown}](${anchor(name)})` : shown;
  }

  #throws({ throws }: Doc): string[] {
    return throws.map(({ type, text }) =>
      `- Throws ${this.#link(type)} ${this.#text(text)}`
    );
  }

  #method(member: Member): string[] {
    const { doc, signature } = member;
    return [
      `**${code(signature)}**`,
      this.#text(doc.text),
      [
        ...[...doc.params].map(([name, text]) =>
          `- ${code(name)}: ${this.#text(text)}`
        ),
        ...doc.returns ? [`- Returns: ${this.#text(doc.returns)}`] : [],
        ...this.#throws(doc),
      ].join("\n"),
    ];
  }

  #properties(members: readonly Member[]): string[] {
    const rows = members.filter(({ kind }) => kind === "property");
    if (rows.length === 0) return [];
    const withDefaults = rows.some(({ doc }) => doc.default !== undefined);
    const lines = rows.map(({ name, optional, signature, doc }) => {
      const type = signature.replace(
        /^(?:\[[^\]]*\]|"[^"]*"|\w+)\??(?:: |$)/,
        "",
      );
      const cells = [
        code(`${name}${optional ? "?" : ""}`),
        type ? code(cell(type)) : "",
        ...withDefaults
          ? [doc.default === undefined ? "" : this.#default(doc.default)]
          : [],
        cell(this.#text(doc.text)),
      ];
      return `| ${cells.join(" | ")} |`;
    });
    const heads = ["member", "type", ...withDefaults ? ["default"] : [], ""];
    return [
      [
        `| ${heads.join(" | ")} |`,
        `|${heads.map(() => "---").join("|")}|`,
        ...lines,
      ].join("\n"),
    ];
  }

  /** A default is a value, or a word or more for a person. */
  #default(text: string): string {
    return /^[\w."{}[\]-]+$/.test(text) && !/^[a-z]+$/.test(text) ||
        /^(?:true|false|null)$/.test(text)
      ? code(text)
      : cell(this.#text(text));
  }

  #symbol(symbol: Documented): string[] {
    const { name, kind, signature, doc, members } = symbol;
    if (kind === "function") {
      return [`#### ${name}`, ...this.#method(members[0]!)];
    }
    const declared = signature.replace(/^export /, "");
    return [
      `#### ${name}`,
      code(declared.length > 300 ? `${declared.slice(0, 297)}…` : declared),
      this.#text(doc.text),
      ...this.#properties(members),
      ...members.filter(({ kind }) => kind !== "property")
        .flatMap((member) => this.#method(member)),
    ];
  }

  #errors(): string[] {
    const classes = new Map(
      this.#library.entries.flatMap(({ symbols }) => symbols).map((
        symbol,
      ) => [symbol.name, symbol]),
    );
    const rows = Object.entries(this.#options.errors).map((
      [id, { name, rpcCode, remedy }],
    ) => {
      const carries = classes.get(name)?.members.filter((member) =>
        member.kind === "property" && member.name !== "code"
      ).map((member) => code(member.name)).join(", ");
      return `| ${code(id)} | ${code(name)} | ${carries} | ${rpcCode} | ${
        cell(remedy)
      } |`;
    });
    return [
      "### Errors",
      `Each has a class, a stable \`code\`, and a predicate of the class's name: \`isTaskNotFoundError()\`.
Match by those, not by \`instanceof\`: a program may hold two copies of the
package. On the wire, what a client caused is -32602, anything else -32603
without its cause. The table is \`TASK_ERRORS\`; bad arguments are a
\`TypeError\`, all others a \`TaskError\`.`,
      [
        "| code | class | carries | on the wire | what to do |",
        "|---|---|---|---|---|",
        ...rows,
      ].join("\n"),
    ];
  }

  #specifier(entry: Entry): string {
    return this.#options.name + entry.name.slice(1);
  }

  #entry(entry: Entry): string[] {
    const own = entry.symbols.filter(({ name }) =>
      !this.#shown.has(name) && !this.#errorNames.has(name)
    );
    const again = entry.symbols.filter(({ name }) => this.#shown.has(name));
    const groups = new Map<number, Documented[]>();
    for (const symbol of own) {
      this.#shown.add(symbol.name);
      const at = GROUPS.findIndex(([, belongs]) => belongs(symbol));
      groups.set(at, [...groups.get(at) ?? [], symbol]);
    }
    const [introduction] = entry.doc.split(/\n@|```/);
    return [
      `## ${this.#specifier(entry)}`,
      this.#text(introduction!.trim()),
      ...again.length
        ? [
          `It also has ${
            again.map(({ name }) => this.#link(name)).join(", ")
          }, as another entry.`,
        ]
        : [],
      ...ORDER.flatMap((at) => {
        const symbols = groups.get(at);
        if (!symbols) return [];
        return [
          `### ${GROUPS[at]![0]} of ${
            entry.name === "." ? "the main entry" : entry.name
          }`,
          ...symbols.flatMap((symbol) => this.#symbol(symbol)),
        ];
      }),
      ...entry.name === "." ? this.#errors() : [],
    ];
  }

  render(): string {
    const { entries } = this.#library;
    const blocks = [
      "# API",
      "<!-- Made from the sources by `deno task docs`. Change it there. -->",
      "Everything that the entries export. Examples are in the sources, beside what they show.",
      entries.map((entry) => {
        const specifier = this.#specifier(entry);
        const slug = specifier.toLowerCase().replace(/[^\w-]/g, "");
        return `- [${code(specifier)}](#${slug})`;
      }).join("\n"),
      ...entries.flatMap((entry) => this.#entry(entry)),
    ];
    return `${blocks.filter(Boolean).join("\n\n")}\n`;
  }
}

/**
 * Makes the page.
 *
 * @param library What is exported.
 * @param options The package, and its errors.
 * @returns Markdown, not formatted yet.
 */
export function apiPage(library: Library, options: PageOptions): string {
  return new Page(library, options).render();
}
