/** What the entries export and what is written about it, by TypeScript's own parser. */
import ts from "typescript";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** What a doc comment says. */
export interface Doc {
  /** Its text, without the tags; empty where there is none. */
  readonly text: string;
  /** `@param`: what is said of each parameter. */
  readonly params: ReadonlyMap<string, string>;
  /** `@returns`. */
  readonly returns: string | undefined;
  /** `@throws`: the class and the text after it. */
  readonly throws: readonly { readonly type: string; readonly text: string }[];
  /** `@default`. */
  readonly default: string | undefined;
}

/** A part of something exported. */
export interface Member {
  /** Its name; `constructor` and `()` for what has none. */
  readonly name: string;
  /** What it is. */
  readonly kind: "property" | "method" | "constructor";
  /** Whether it may be left out. */
  readonly optional: boolean;
  /** Its declaration, on one line: what it is called with, and its type. */
  readonly signature: string;
  /** What is written about it. */
  readonly doc: Doc;
  /** The names of its parameters; of a property, those of the function that it holds. */
  readonly params: readonly string[];
  /** Whether it is a method that gives something back. */
  readonly returns: boolean;
  /** Where it is declared. */
  readonly node: ts.Node;
}

/** Something exported. */
export interface Documented {
  /** Its name. */
  readonly name: string;
  /** What it is. */
  readonly kind: "class" | "interface" | "type" | "function" | "variable";
  /** Its declaration, without bodies and without members. */
  readonly signature: string;
  /** What is written about it. */
  readonly doc: Doc;
  /** Its members; of a function, the function itself. */
  readonly members: readonly Member[];
  /** The source file, from the root. */
  readonly file: string;
  /** The line, from 1. */
  readonly line: number;
  /** Where it is declared. */
  readonly node: ts.Node;
}

/** An entry of the package. */
export interface Entry {
  /** As in `deno.json`: `.`, `./wal`. */
  readonly name: string;
  /** The text of its module doc. */
  readonly doc: string;
  /** What it exports, by name. */
  readonly symbols: readonly Documented[];
}

/** Everything that is published. */
export interface Library {
  /** The entries, in the order of `deno.json`. */
  readonly entries: readonly Entry[];
  /** The sources that they reach. */
  readonly sources: readonly ts.SourceFile[];
  /** Tells what a node stands for. */
  readonly checker: ts.TypeChecker;
  /** A file's path, from the root. */
  pathOf(node: ts.Node): string;
}

/** The text of a comment, with `{@link…}` left as it is written. */
function textOf(comment: ts.JSDoc["comment"]): string {
  if (comment === undefined) return "";
  if (typeof comment === "string") return comment.trim();
  return comment.map((part) =>
    part.kind === ts.SyntaxKind.JSDocText ? part.text : part.getText()
  ).join("").trim();
}

/** What is written about a node. */
function docOf(node: ts.Node): Doc {
  // The doc of a module stands before what it declares first, and is not about it.
  const doc = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc).findLast((
    { tags },
  ) => !tags?.some(({ tagName }) => tagName.text === "module"));
  const params = new Map<string, string>();
  const throws: { type: string; text: string }[] = [];
  let returns: string | undefined;
  let defaultValue: string | undefined;
  for (const tag of doc?.tags ?? []) {
    const text = textOf(tag.comment);
    if (ts.isJSDocParameterTag(tag)) params.set(tag.name.getText(), text);
    else if (ts.isJSDocReturnTag(tag)) returns = text;
    else if (ts.isJSDocThrowsTag(tag)) {
      throws.push({ type: tag.typeExpression?.type.getText() ?? "", text });
    } else if (tag.tagName.text === "default") defaultValue = text;
  }
  return {
    text: textOf(doc?.comment),
    params,
    returns,
    throws,
    default: defaultValue,
  };
}

/** Code on one line, without comments. */
function oneLine(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\s+/g, " ")
    .replace(/([([]) /g, "$1")
    .replace(/,? ([)\]])/g, "$1").replace(/[;,]$/, "").trim();
}

/** What is called, with what, and what comes back. */
function callOf(name: string, node: ts.SignatureDeclaration): string {
  const types = node.typeParameters?.map((type) => oneLine(type.getText()));
  const parameters = node.parameters.map((parameter) => {
    const rest = parameter.dotDotDotToken ? "..." : "";
    const may = parameter.questionToken || parameter.initializer ? "?" : "";
    const type = parameter.type ? `: ${oneLine(parameter.type.getText())}` : "";
    return `${rest}${oneLine(parameter.name.getText())}${may}${type}`;
  });
  const result = node.type ? `: ${oneLine(node.type.getText())}` : "";
  return `${name}${types ? `<${types.join(", ")}>` : ""}(${
    parameters.join(", ")
  })${result}`;
}

/** A declaration without bodies, members and values. */
function signatureOf(node: ts.Node): string {
  if (
    ts.isMethodDeclaration(node) || ts.isMethodSignature(node) ||
    ts.isFunctionDeclaration(node)
  ) {
    const may = "questionToken" in node && node.questionToken ? "?" : "";
    const { Static } = ts.ModifierFlags;
    const of = ts.getCombinedModifierFlags(node) & Static ? "static " : "";
    return callOf(`${of}${node.name?.getText() ?? ""}${may}`, node);
  }
  if (ts.isConstructorDeclaration(node)) return callOf("constructor", node);
  if (ts.isPropertyDeclaration(node) || ts.isPropertySignature(node)) {
    const may = node.questionToken ? "?" : "";
    const type = node.type ? `: ${oneLine(node.type.getText())}` : "";
    return `${node.name.getText()}${may}${type}`;
  }
  const source = node.getSourceFile();
  const start = node.getStart(source);
  const end = ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)
    ? source.text.lastIndexOf("{", node.members.pos)
    : (node as { body?: ts.Node }).body?.pos ?? node.end;
  return oneLine(source.text.slice(start, end));
}

function isPrivate(node: ts.Node): boolean {
  const name = (node as { name?: ts.Node }).name;
  if (name && ts.isPrivateIdentifier(name)) return true;
  const flags = ts.getCombinedModifierFlags(node as ts.Declaration);
  return (flags & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) !==
    0;
}

/** Whether a type is written that gives something back. */
function givesBack(type: ts.TypeNode | undefined): boolean {
  const text = type?.getText() ?? "";
  return !/^(?:void|unknown|never|Promise<void>|void \| Promise<void>|Promise<never>|asserts .*|)$/
    .test(text);
}

function memberOf(node: ts.Node): Member[] {
  if (isPrivate(node)) return [];
  const common = { signature: signatureOf(node), doc: docOf(node), node };
  const call = node as ts.SignatureDeclaration;
  const signature = () => ({
    params: call.parameters.map((parameter) => parameter.name.getText()),
    returns: givesBack(call.type),
  });
  if (ts.isConstructorDeclaration(node)) {
    return [{
      ...common,
      ...signature(),
      name: "constructor",
      kind: "constructor",
      optional: false,
      returns: false,
    }];
  }
  if (ts.isMethodDeclaration(node) || ts.isMethodSignature(node)) {
    return [{
      ...common,
      ...signature(),
      name: node.name.getText(),
      kind: "method",
      optional: node.questionToken !== undefined,
    }];
  }
  if (ts.isCallSignatureDeclaration(node)) {
    return [{
      ...common,
      ...signature(),
      name: "()",
      kind: "method",
      optional: false,
    }];
  }
  if (
    ts.isPropertyDeclaration(node) || ts.isPropertySignature(node) ||
    ts.isGetAccessor(node)
  ) {
    return [{
      ...common,
      name: node.name.getText(),
      kind: "property",
      optional: "questionToken" in node && node.questionToken !== undefined,
      params: node.type && ts.isFunctionTypeNode(node.type)
        ? node.type.parameters.map((parameter) => parameter.name.getText())
        : [],
      returns: false,
    }];
  }
  if (ts.isIndexSignatureDeclaration(node)) {
    return [{
      ...common,
      name: `[${node.parameters[0]?.name.getText()}]`,
      kind: "property",
      optional: true,
      params: [],
      returns: false,
    }];
  }
  return [];
}

/** The members that a type alias spells out: of its object, or of each object of its union. */
function literalMembers(type: ts.TypeNode): Member[] {
  if (ts.isTypeLiteralNode(type)) return type.members.flatMap(memberOf);
  if (ts.isUnionTypeNode(type) || ts.isIntersectionTypeNode(type)) {
    return type.types.flatMap(literalMembers);
  }
  if (ts.isParenthesizedTypeNode(type)) return literalMembers(type.type);
  return [];
}

function describe(
  name: string,
  node: ts.Declaration,
  path: string,
): Documented | undefined {
  const source = node.getSourceFile();
  const common = {
    name,
    file: path,
    line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1,
    node,
  };
  if (ts.isClassDeclaration(node)) {
    return {
      ...common,
      kind: "class",
      signature: signatureOf(node),
      doc: docOf(node),
      members: node.members.flatMap(memberOf),
    };
  }
  if (ts.isInterfaceDeclaration(node)) {
    return {
      ...common,
      kind: "interface",
      signature: signatureOf(node),
      doc: docOf(node),
      members: node.members.flatMap(memberOf),
    };
  }
  if (ts.isTypeAliasDeclaration(node)) {
    return {
      ...common,
      kind: "type",
      signature: signatureOf(node),
      doc: docOf(node),
      members: literalMembers(node.type),
    };
  }
  if (ts.isFunctionDeclaration(node)) {
    const doc = docOf(node);
    const signature = signatureOf(node);
    return {
      ...common,
      kind: "function",
      signature,
      doc,
      members: [{
        name,
        kind: "method",
        optional: false,
        signature,
        doc,
        params: node.parameters.map((parameter) => parameter.name.getText()),
        returns: givesBack(node.type),
        node,
      }],
    };
  }
  if (ts.isVariableDeclaration(node)) {
    const type = node.type
      ? `: ${node.type.getText().replace(/\s+/g, " ")}`
      : "";
    const literal = node.initializer && ts.isAsExpression(node.initializer)
      ? node.initializer.expression
      : node.initializer;
    return {
      ...common,
      kind: "variable",
      signature: `const ${name}${type}`,
      doc: docOf(node.parent.parent),
      // What a constant spells out without a type of its own is documented there.
      members: !node.type && literal && ts.isObjectLiteralExpression(literal)
        ? literal.properties.map((property) => ({
          name: property.name?.getText() ?? "",
          kind: "property" as const,
          optional: false,
          signature: signatureOf(property),
          doc: docOf(property),
          params: [],
          returns: false,
          node: property,
        }))
        : [],
    };
  }
  return undefined;
}

/**
 * Reads what the entries of a project export.
 *
 * @param root The folder with `deno.json`.
 */
export function readLibrary(root: string): Library {
  const { exports } = JSON.parse(
    readFileSync(join(root, "deno.json"), "utf8"),
  ) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  const files = Object.entries(exports).map(([name, file]) =>
    [name, join(root, file)] as const
  );
  const program = ts.createProgram(files.map(([, file]) => file), {
    noLib: true,
    types: [],
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
  });
  const checker = program.getTypeChecker();
  const pathOf = (node: ts.Node) =>
    posix.relative(
      root.replaceAll("\\", "/"),
      node.getSourceFile().fileName.replaceAll("\\", "/"),
    );
  const entries = files.map(([name, file]): Entry => {
    const source = program.getSourceFile(file)!;
    const module = checker.getSymbolAtLocation(source)!;
    const symbols = checker.getExportsOfModule(module).flatMap((symbol) => {
      const target = symbol.flags & ts.SymbolFlags.Alias
        ? checker.getAliasedSymbol(symbol)
        : symbol;
      return (target.declarations ?? []).flatMap((declaration) =>
        describe(symbol.name, declaration, pathOf(declaration)) ?? []
      );
    });
    symbols.sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
    const [comment = ""] = /^\/\*\*[\s\S]*?\*\//.exec(source.text) ?? [];
    return {
      name,
      doc: comment.replace(/^\/\*\*|\*\/$/g, "").replace(/^ ?\* ?/gm, "")
        .trim(),
      symbols,
    };
  });
  return {
    entries,
    sources: program.getSourceFiles(),
    checker,
    pathOf,
  };
}
