/** What is wrong with a document of the project, or with a file that runs its tasks. */
import { posix } from "node:path";
import { blocksOf } from "./blocks.ts";
import { anchorsOf, linksOf, pathOf } from "./links.ts";

/** What a document may name. */
export interface Project {
  /** The text of a file, named from the root with `/`; `undefined` where there is none. */
  read(path: string): string | undefined;
  /** Whether there is a folder. */
  isFolder(path: string): boolean;
  /** The tasks of `deno.json`. */
  readonly tasks: ReadonlySet<string>;
  /** The sources that are type-checked and run, from which a document may quote. */
  readonly quotable: readonly string[];
}

/** Relative links to files, folders and headings that are not there. */
export function checkLinks(
  file: string,
  text: string,
  project: Project,
): string[] {
  return linksOf(text).flatMap(({ target, line }) => {
    const path = pathOf(target);
    if (path === undefined) return [];
    const linked = path
      ? posix.join(posix.dirname(file), path).replace(/\/$/, "")
      : file;
    const content = path ? project.read(linked) : text;
    if (content === undefined && !project.isFolder(linked)) {
      return [`${file}:${line}: ${target}: there is no ${linked}`];
    }
    const [, anchor] = /#(.+)$/.exec(target) ?? [];
    if (!anchor || !linked.endsWith(".md")) return [];
    return anchorsOf(content ?? "").has(decodeURIComponent(anchor))
      ? []
      : [`${file}:${line}: ${target}: ${linked} has no such heading`];
  });
}

/** The values that a workflow's matrix has for a name. */
function matrixValues(text: string, name: string): string[] {
  const lists = text.matchAll(new RegExp(`^ *${name}: *\\[([^\\]]*)\\]`, "gm"));
  const single = text.matchAll(
    new RegExp(`^ *(?:- )?${name}: *([^\\[\\n]+)$`, "gm"),
  );
  return [
    ...[...lists].flatMap(([, list]) => list!.split(",")),
    ...[...single].map(([, value]) => value!),
  ].map((value) => value.trim().replace(/^["']|["']$/g, "")).filter(Boolean);
}

/** Tasks that are named, by `deno task NAME` or by the script of CI, and that `deno.json` lacks. */
export function checkTasks(
  file: string,
  text: string,
  project: Project,
): string[] {
  const named =
    /\b(?:deno(?:@[\d.]+)? task(?: -q| --quiet)?|run_task \d+) ((?:\$\{\{[^}]*\}\}|[\w:-])+)/g;
  return [...text.matchAll(named)].flatMap((match) => {
    const line = text.slice(0, match.index).split("\n").length;
    const [whole, name, variable] =
      /^([\w:-]*)\$\{\{ *matrix\.(\w+) *\}\}$/.exec(match[1]!) ?? [];
    const values = variable ? matrixValues(text, variable) : [];
    const tasks = whole
      ? values.map((value) => `${name}${value}`)
      : [match[1]!];
    if (tasks.length === 0) {
      return [`${file}:${line}: ${match[1]}: the matrix has no such values`];
    }
    return tasks.filter((task) => !project.tasks.has(task)).map((task) =>
      `${file}:${line}: deno.json has no task ${task}`
    );
  });
}

/** Languages of blocks that nothing runs, and that need no check. */
const PLAIN: ReadonlySet<string> = new Set([
  "sh",
  "text",
  "mermaid",
  "diff",
  "sql",
]);

/**
 * Blocks that nobody proves right: `ts` runs under `deno test --doc`, `ts ignore` has to be a quotation of
 * a source, JSON has to be JSON.
 */
export function checkBlocks(
  file: string,
  text: string,
  project: Project,
): string[] {
  return blocksOf(text).flatMap(({ info, text: block, line }) => {
    if (info === "ts" || PLAIN.has(info)) return [];
    if (info === "json" || info === "jsonc") {
      try {
        JSON.parse(block.replace(/^\s*\/\/.*$/gm, ""));
        return [];
      } catch (error) {
        return [
          `${file}:${line}: this is no JSON: ${(error as Error).message}`,
        ];
      }
    }
    if (info === "ts ignore") {
      return project.quotable.some((source) => source.includes(block.trim()))
        ? []
        : [
          `${file}:${line}: this is not run, and in no file of examples/ that is`,
        ];
    }
    return [`${file}:${line}: a block of "${info}" is neither run nor checked`];
  });
}
