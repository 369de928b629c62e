/** What is wrong with what is written about the library. */
import ts from "typescript";
import { defaultsOf, writtenDefault } from "./defaults.ts";
import type { Doc, Documented, Library, Member } from "./read.ts";

/** A table such as `TASK_ERRORS`. */
export type ErrorTable = Readonly<Record<string, { readonly name: string }>>;

/** The types whose optional members are options. */
const OPTIONS = /(?:Options|Config|Fixture|Init|Limits)$/;

/** The types, or files of them, that say what an object of another package or of a platform looks like. */
const FOREIGN = /(?:Like$|shapes?\.ts$)/;

function throwsProblems({ throws }: Doc, errors: ErrorTable): string[] {
  const problems: string[] = [];
  const classes = new Set(Object.values(errors).map(({ name }) => name));
  for (const { type, text } of throws) {
    if (!type) {
      problems.push(
        `@throws ${text} names no class: @throws {Class} \`CODE\`: …`,
      );
      continue;
    }
    const codes = [...text.matchAll(/\bERR_[A-Z_]+\b/g)].map(([code]) => code);
    for (const code of codes) {
      if (!(code in errors)) {
        problems.push(`@throws names ${code}, which TASK_ERRORS lacks`);
      }
    }
    if (!classes.has(type)) continue;
    const first = /^`(ERR_[A-Z_]+)`: \S/.exec(text)?.[1];
    if (!first) {
      problems.push(
        `@throws {${type}} does not go on with its code and a reason: \`CODE\`: …`,
      );
    } else if (first in errors && errors[first]!.name !== type) {
      problems.push(
        `@throws {${type}} has ${first}, the code of ${errors[first]!.name}`,
      );
    }
  }
  return problems;
}

/** The errors of ours that a body throws by itself, and that its doc does not name. */
function untold(node: ts.Node, { throws }: Doc, errors: ErrorTable): string[] {
  const body = (node as { body?: ts.Node }).body;
  if (!body) return [];
  const classes = new Set(Object.values(errors).map(({ name }) => name));
  const told = new Set(throws.map(({ type }) => type));
  const found = new Set<string>();
  const visit = (inner: ts.Node): void => {
    if (ts.isFunctionLike(inner)) return;
    if (
      ts.isThrowStatement(inner) && ts.isNewExpression(inner.expression)
    ) {
      const name = inner.expression.expression.getText();
      if (classes.has(name) && !told.has(name)) found.add(name);
    }
    ts.forEachChild(inner, visit);
  };
  visit(body);
  return [...found].map((name) =>
    `it throws ${name} and has no @throws for it`
  );
}

function memberProblems(
  owner: Documented,
  member: Member,
  library: Library,
  errors: ErrorTable,
): string[] {
  const { doc, params, returns, optional, kind } = member;
  const problems: string[] = [];
  if (!doc.text) problems.push("it is not documented");
  // What another package has is described there.
  const foreign = FOREIGN.test(owner.name) || FOREIGN.test(owner.file);
  if (kind !== "property" && !foreign) {
    for (const name of params) {
      if (!doc.params.get(name)) problems.push(`@param ${name} is missing`);
    }
  }
  for (const name of doc.params.keys()) {
    if (!params.includes(name)) problems.push(`@param ${name} is no parameter`);
  }
  if (returns && !foreign && !doc.returns) problems.push("@returns is missing");
  problems.push(
    ...throwsProblems(doc, errors),
    ...untold(member.node, doc, errors),
  );
  if (
    kind === "property" && optional && OPTIONS.test(owner.name) &&
    !foreign && !doc.default && !member.signature.endsWith("?: undefined") &&
    !member.name.startsWith("[")
  ) problems.push("@default is missing");
  const written = doc.default === undefined
    ? undefined
    : writtenDefault(doc.default);
  if (written !== undefined) {
    for (const real of defaultsOf(library, owner.name, member)) {
      if (real !== written) {
        problems.push(`@default is ${doc.default}, and the code has ${real}`);
      }
    }
  }
  return problems;
}

/**
 * Checks that everything exported is documented, and rightly as far as a tool can tell.
 *
 * @param library What is exported.
 * @param errors The table of errors.
 * @returns What is wrong, one line each, without doubles.
 */
export function checkDocs(library: Library, errors: ErrorTable): string[] {
  const problems = new Set<string>();
  for (const entry of library.entries) {
    if (!entry.doc) problems.add(`${entry.name}: its module is not documented`);
    else if (!/^```ts$/m.test(entry.doc)) {
      problems.add(`${entry.name}: its module has no example that runs`);
    }
    for (const symbol of entry.symbols) {
      const at = `${symbol.file}:${symbol.line}: ${symbol.name}`;
      if (symbol.kind !== "function" && !symbol.doc.text) {
        problems.add(`${at}: it is not documented`);
      }
      for (const member of symbol.members) {
        const place = symbol.kind === "function" ? at : `${at}.${member.name}`;
        for (const problem of memberProblems(symbol, member, library, errors)) {
          problems.add(`${place}: ${problem}`);
        }
      }
    }
  }
  return [...problems];
}
