/** What one source file imports and which globals it uses, by TypeScript's own parser and scopes. */
import ts from "typescript";

/** Something found in a source file. */
export interface Found {
  /** The specifier of an import, or the name of a global. */
  readonly text: string;
  /** The line, from 1. */
  readonly line: number;
}

/** What {@link scan} finds. */
export interface Scan {
  /** Specifiers of imports and exports, of `import()` and of `import("…")` types. */
  readonly imports: readonly Found[];
  /** Imports whose specifier is not a literal, so that nobody can follow them. */
  readonly computedImports: readonly Found[];
  /** Uses of names that the file itself does not declare or import, members of `globalThis` too. */
  readonly globals: readonly Found[];
}

/** A program of this one file: no libraries, no other files, so an unbound name is a global. */
function programOf(file: string, source: string): ts.Program {
  const options: ts.CompilerOptions = {
    noLib: true,
    noResolve: true,
    target: ts.ScriptTarget.ESNext,
  };
  const parsed = ts.createSourceFile(
    file,
    source,
    ts.ScriptTarget.ESNext,
    true,
  );
  return ts.createProgram([file], options, {
    getSourceFile: (name) => name === file ? parsed : undefined,
    getDefaultLibFileName: () => "",
    writeFile: () => {},
    getCurrentDirectory: () => "",
    getCanonicalFileName: (name) => name,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => "\n",
    fileExists: (name) => name === file,
    readFile: () => undefined,
  });
}

/** `x` of `(x as T)`, `x!`, `(x)`. */
function bare(node: ts.Expression): ts.Expression {
  while (
    ts.isParenthesizedExpression(node) || ts.isAsExpression(node) ||
    ts.isNonNullExpression(node) || ts.isSatisfiesExpression(node)
  ) node = node.expression;
  return node;
}

function isGlobalThis(node: ts.Expression): boolean {
  const inner = bare(node);
  return ts.isIdentifier(inner) && inner.text === "globalThis";
}

/** The name of a member of `globalThis` that a node reads, if it does. */
function globalMember(node: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(node) && isGlobalThis(node.expression)) {
    return node.name.text;
  }
  if (
    ts.isElementAccessExpression(node) && isGlobalThis(node.expression) &&
    ts.isStringLiteralLike(node.argumentExpression)
  ) return node.argumentExpression.text;
  return undefined;
}

/** Whether an identifier stands for a value or a type of its own, and is not a member's name. */
function standsAlone(node: ts.Identifier): boolean {
  const { parent } = node;
  return !(
    (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
    (ts.isQualifiedName(parent) && parent.right === node) ||
    (ts.isBindingElement(parent) && parent.propertyName === node) ||
    ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent) ||
    ts.isMetaProperty(parent) || ts.isNamedTupleMember(parent) ||
    ts.isLabeledStatement(parent) || ts.isBreakOrContinueStatement(parent)
  );
}

/** Whether a name is bound by the file itself; `declare const` only says that it is there. */
function isBound(symbol: ts.Symbol | undefined): boolean {
  return symbol?.declarations?.some((declaration) =>
    (ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Ambient) === 0
  ) ?? false;
}

/** Scans one source file. */
export function scan(file: string, source: string): Scan {
  const program = programOf(file, source);
  const checker = program.getTypeChecker();
  const tree = program.getSourceFile(file)!;
  const imports: Found[] = [];
  const computedImports: Found[] = [];
  const globals: Found[] = [];
  const at = (node: ts.Node, text: string): Found => ({
    text,
    line: tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1,
  });
  const specifier = (node: ts.Node | undefined, whole: ts.Node) => {
    if (node && ts.isStringLiteralLike(node)) imports.push(at(node, node.text));
    else computedImports.push(at(whole, whole.getText(tree)));
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) specifier(node.moduleSpecifier, node);
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
      specifier(node.moduleSpecifier, node);
    } else if (
      ts.isCallExpression(node) &&
      node.expression.kind === ts.SyntaxKind.ImportKeyword
    ) {
      specifier(node.arguments[0], node);
    } else if (ts.isImportTypeNode(node)) {
      specifier(
        ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined,
        node,
      );
    } else if (ts.isExternalModuleReference(node)) {
      specifier(node.expression, node);
    }
    const member = globalMember(node);
    if (member !== undefined) globals.push(at(node, member));
    else if (ts.isIdentifier(node) && standsAlone(node)) {
      const symbol = ts.isShorthandPropertyAssignment(node.parent)
        ? checker.getShorthandAssignmentValueSymbol(node.parent)
        : checker.getSymbolAtLocation(node);
      if (!isBound(symbol)) globals.push(at(node, node.text));
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  for (
    const { fileName, pos } of [
      ...tree.referencedFiles,
      ...tree.typeReferenceDirectives,
    ]
  ) {
    imports.push({
      text: fileName,
      line: tree.getLineAndCharacterOfPosition(pos).line + 1,
    });
  }
  return { imports, computedImports, globals };
}
