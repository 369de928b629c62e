/** The default of an option as the code has it, where that can be told without running it. */
import ts from "typescript";
import type { Library, Member } from "./read.ts";

/** A value that a default may have and a reader can compare. */
export type Plain = number | string | boolean | null;

/** The value of an expression, if it is a constant one. */
function valueOf(
  node: ts.Expression,
  library: Library,
  depth = 0,
): Plain | undefined {
  if (depth > 5) return undefined;
  const inner = (next: ts.Expression) => valueOf(next, library, depth + 1);
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (ts.isStringLiteralLike(node)) return node.text;
  if (node.kind === ts.SyntaxKind.TrueKeyword) return true;
  if (node.kind === ts.SyntaxKind.FalseKeyword) return false;
  if (node.kind === ts.SyntaxKind.NullKeyword) return null;
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) {
    return inner(node.expression);
  }
  if (ts.isBinaryExpression(node)) {
    const [left, right] = [inner(node.left), inner(node.right)];
    if (typeof left !== "number" || typeof right !== "number") return undefined;
    switch (node.operatorToken.kind) {
      case ts.SyntaxKind.AsteriskToken:
        return left * right;
      case ts.SyntaxKind.PlusToken:
        return left + right;
      case ts.SyntaxKind.AsteriskAsteriskToken:
        return left ** right;
    }
    return undefined;
  }
  if (ts.isIdentifier(node)) {
    let symbol = library.checker.getSymbolAtLocation(node);
    if (symbol && symbol.flags & ts.SymbolFlags.Alias) {
      symbol = library.checker.getAliasedSymbol(symbol);
    }
    const declaration = symbol?.valueDeclaration;
    if (
      declaration && ts.isVariableDeclaration(declaration) &&
      declaration.initializer &&
      (ts.getCombinedNodeFlags(declaration) & ts.NodeFlags.Const)
    ) return inner(declaration.initializer);
  }
  return undefined;
}

const stringOf = (node: ts.Node | undefined) =>
  node && ts.isStringLiteralLike(node) ? node.text : undefined;

/** Whether a node's type is the one that a member belongs to. */
function isOf(node: ts.Node, owner: string, library: Library): boolean {
  const type = library.checker.getTypeAtLocation(node);
  const names = (type.isUnion() ? type.types : [type]).map((one) =>
    one.aliasSymbol?.name ?? one.symbol?.name
  );
  return names.includes(owner);
}

/** Whether the type of a table is made of an options type: its values are values of options, and not just names. */
function isTableOf(type: ts.TypeNode | undefined, owner: string): boolean {
  const words: readonly string[] = type?.getText().match(/\w+/g) ?? [];
  return words.includes(owner) && words[0] !== "NamesOf";
}

/**
 * The defaults that the code gives to a member of an options type: in a table with that type, in
 * `{ member = … }`, in `options.member ?? …`, in `options.member === undefined ? …`, and in
 * `check(options, "member", …)`.
 *
 * @param library The sources.
 * @param owner The name of the options type.
 * @param member The member.
 * @returns Each that can be told.
 */
export function defaultsOf(
  library: Library,
  owner: string,
  { name }: Pick<Member, "name">,
): Plain[] {
  const found: Plain[] = [];
  const take = (node: ts.Expression | undefined) => {
    const value = node && valueOf(node, library);
    if (value !== undefined) found.push(value);
  };
  const visit = (node: ts.Node): void => {
    if (
      ts.isVariableDeclaration(node) && node.initializer &&
      ts.isObjectLiteralExpression(node.initializer) &&
      isTableOf(node.type, owner)
    ) {
      for (const property of node.initializer.properties) {
        if (
          ts.isPropertyAssignment(property) && property.name.getText() === name
        ) {
          take(property.initializer);
        }
      }
    } else if (
      ts.isBindingElement(node) && node.initializer &&
      (node.propertyName ?? node.name).getText() === name &&
      isOf(node.parent, owner, library)
    ) take(node.initializer);
    else if (
      ts.isBinaryExpression(node) &&
      node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken &&
      ts.isPropertyAccessExpression(node.left) &&
      node.left.name.text === name &&
      isOf(node.left.expression, owner, library)
    ) take(node.right);
    else if (
      ts.isConditionalExpression(node) &&
      ts.isBinaryExpression(node.condition) &&
      node.condition.right.getText() === "undefined" &&
      ts.isPropertyAccessExpression(node.condition.left) &&
      node.condition.left.name.text === name &&
      isOf(node.condition.left.expression, owner, library)
    ) {
      const { whenTrue } = node;
      take(ts.isConditionalExpression(whenTrue) ? whenTrue.whenTrue : whenTrue);
    } else if (ts.isCallExpression(node)) {
      const at = node.arguments.findIndex((argument) =>
        stringOf(argument) === name
      );
      if (
        at > 0 && isOf(node.arguments[at - 1]!, owner, library)
      ) take(node.arguments[at + 1]);
    }
    ts.forEachChild(node, visit);
  };
  for (const source of library.sources) visit(source);
  return found;
}

/** A `@default` as a value, if it is written as one: `5_000`, `true`, `"a"`, `8 MiB`. */
export function writtenDefault(text: string): Plain | undefined {
  const number = /^`?(-?[\d_]+(?:\.\d+)?)(?: (KiB|MiB))?`?$/.exec(text);
  if (number) {
    const unit = { KiB: 1_024, MiB: 1_024 ** 2 }[number[2] ?? ""] ?? 1;
    return Number(number[1]!.replaceAll("_", "")) * unit;
  }
  if (/^`?(?:true|false|null)`?$/.test(text)) {
    return JSON.parse(text.replaceAll("`", ""));
  }
  const string = /^"([^"]*)"$/.exec(text);
  return string ? string[1] : undefined;
}
