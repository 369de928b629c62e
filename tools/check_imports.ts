/** Checks who imports what: `deno run -A tools/check_imports.ts`. The rules are in `imports/rules.ts`. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import {
  refuseFile,
  refuseNode,
  RUNTIME_FREE,
  RUNTIME_GLOBALS,
} from "./imports/rules.ts";
import { type Scan, scan } from "./imports/scan.ts";

/** Folders that hold no source of the project. */
const PASSED_OVER: ReadonlySet<string> = new Set([
  "node_modules",
  "npm",
  "coverage",
]);

function sources(root: string, folder = ""): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap(
    (entry) => {
      const path = posix.join(folder, entry.name);
      if (entry.isDirectory()) {
        return PASSED_OVER.has(entry.name) || entry.name.startsWith(".")
          ? []
          : sources(root, path);
      }
      return entry.name.endsWith(".ts") ? [path] : [];
    },
  ).sort();
}

/** The file that a relative specifier names, from the root. */
function resolve(from: string, specifier: string): string {
  return posix.join(posix.dirname(from), specifier);
}

const isRelative = (specifier: string) => /^\.{1,2}\//.test(specifier);

/** How an entry comes to a `node:` module, for each that it reaches. */
function nodeRoutes(entry: string, scans: ReadonlyMap<string, Scan>): string[] {
  const routes: string[] = [];
  const from = new Map<string, string | undefined>([[entry, undefined]]);
  for (const [file] of from) {
    for (const { text } of scans.get(file)?.imports ?? []) {
      if (text.startsWith("node:")) {
        const route = [text];
        for (let at: string | undefined = file; at; at = from.get(at)) {
          route.unshift(at);
        }
        routes.push(
          `${
            route.join(" > ")
          }: an entry that needs no runtime reaches a node: module`,
        );
      } else if (isRelative(text)) {
        const next = resolve(file, text);
        if (!from.has(next)) from.set(next, file);
      }
    }
  }
  return routes;
}

/** Checks the tree at `root` and answers what is wrong, one line each. */
export function checkImports(root: string): string[] {
  const problems: string[] = [];
  const config = JSON.parse(readFileSync(join(root, "deno.json"), "utf8"));
  const entries = Object.values(config.exports as Record<string, string>)
    .map((path) => posix.normalize(path));
  const published = (file: string) =>
    file.startsWith("src/") || entries.includes(file);
  const scans = new Map<string, Scan>();
  for (const file of sources(root)) {
    const found = scan(file, readFileSync(join(root, file), "utf8"));
    scans.set(file, found);
    const say = (line: number, text: string) =>
      problems.push(`${file}:${line}: ${text}`);
    for (const { text, line } of found.imports) {
      const scheme = /^[a-z][a-z\d+.-]*:/.exec(text)?.[0];
      if (scheme && scheme !== "node:") {
        say(
          line,
          `${text}: import by a bare name that deno.json pins, so that Node and Bun find it too`,
        );
      } else if (isRelative(text)) {
        const to = resolve(file, text);
        if (!existsSync(join(root, to))) {
          say(line, `${text}: there is no ${to}`);
        } else if (published(file)) {
          const refusal = published(to)
            ? refuseFile(file, to)
            : `${to} is not published, and ${file} is`;
          if (refusal) say(line, refusal);
        }
      } else if (published(file)) {
        const refusal = scheme
          ? refuseNode(file, text)
          : `${text}: published code imports no package, not even its types`;
        if (refusal) say(line, refusal);
      }
    }
    if (!published(file)) continue;
    for (const { text, line } of found.computedImports) {
      say(line, `${text}: an import that is not a literal cannot be followed`);
    }
    for (const { text, line } of found.globals) {
      if (RUNTIME_GLOBALS.has(text)) {
        say(line, `${text} is a global that some runtime lacks`);
      }
    }
  }
  for (const entry of entries) {
    if (!scans.has(entry)) {
      problems.push(`deno.json exports ${entry}, which is not there`);
    } else if (RUNTIME_FREE.includes(entry)) {
      problems.push(...nodeRoutes(entry, scans));
    }
  }
  return problems;
}

if (import.meta.main) {
  const problems = checkImports(fileURLToPath(new URL("../", import.meta.url)));
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length ? 1 : 0;
}
