/**
 * What the README links to, for the packages. Both registries show the README with its relative links
 * turned to the repository on GitHub that the package names; one that names none, or somebody who reads
 * what was installed, has the files themselves.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { linksOf, pathOf } from "../markdown/links.ts";

/** Where linked files may be that the packages take along. */
const TAKEN = /^(?:docs|examples)\/|^[^/]+\.md$/;

/** The committed files at a path: itself, or all of its folder. */
function committed(root: string, path: string): string[] {
  const { status, stdout, stderr } = spawnSync(
    "git",
    [
      "ls-files",
      "-z",
      "--cached",
      "--others",
      "--exclude-standard",
      "--",
      path,
    ],
    { cwd: root, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`Cannot list ${path}: ${stderr}`);
  return stdout.split("\0").filter((file) =>
    file && existsSync(join(root, file))
  );
}

/** The path of a link from the root. */
function resolve(file: string, path: string): string {
  return posix.join(posix.dirname(file), path).replace(/\/$/, "");
}

/**
 * The files that a document links to, and those that these link to.
 *
 * @param root The repository.
 * @param from The document.
 * @returns Their paths from the root, without the document itself.
 */
export function linkedFiles(root: string, from: string): string[] {
  const files = new Set([from]);
  for (const file of files) {
    if (!file.endsWith(".md")) continue;
    for (const { target } of linksOf(readFileSync(join(root, file), "utf8"))) {
      const path = pathOf(target);
      if (!path) continue;
      const linked = resolve(file, path);
      if (!TAKEN.test(linked)) continue;
      for (const found of committed(root, linked)) files.add(found);
    }
  }
  files.delete(from);
  return [...files].sort();
}

/**
 * A document of the npm package, with its links to sources turned to what the package has of them.
 *
 * @param text The document.
 * @param file Its path from the root.
 * @param exists Whether the package has a file.
 */
export function packedDocument(
  text: string,
  file: string,
  exists: (path: string) => boolean,
): string {
  let changed = "";
  let from = 0;
  for (const { target, at } of linksOf(text)) {
    const path = pathOf(target);
    if (!path?.endsWith(".ts") || exists(resolve(file, path))) continue;
    const end = [".d.ts", ".js"].find((end) =>
      exists(resolve(file, path.replace(/\.ts$/, end)))
    );
    if (!end) continue;
    changed += text.slice(from, at) + path.replace(/\.ts$/, end);
    from = at + path.length;
  }
  return changed + text.slice(from);
}

/**
 * An example of the npm package, with its imports of entries by path turned to the package's names.
 *
 * @param text The example, in a folder of `examples/`.
 * @param name The package.
 * @param exports The entries, with the files that they have in the checkout.
 * @throws {Error} It imports something else of the checkout.
 */
export function packedExample(
  text: string,
  name: string,
  exports: Readonly<Record<string, string>>,
): string {
  for (const [entry, file] of Object.entries(exports)) {
    text = text.replaceAll(
      `from "../../${file.replace(/^\.\//, "")}"`,
      `from "${name}${entry.slice(1)}"`,
    );
  }
  const [other] = /from "\.\.\/\.\.\/[^"]*"/.exec(text) ?? [];
  if (other) throw new Error(`Cannot pack an example: ${other} is no entry`);
  return text;
}

/**
 * What is wrong with the links of a document of a package, and of those it leads to.
 *
 * @param from The document.
 * @param read Gives the text of a document.
 * @param exists Whether the package has a file or a folder.
 */
export function deadLinks(
  from: string,
  read: (file: string) => string,
  exists: (path: string) => boolean,
): string[] {
  const problems: string[] = [];
  const documents = new Set([from]);
  for (const file of documents) {
    for (const { target, line } of linksOf(read(file))) {
      const path = pathOf(target);
      if (!path) continue;
      const linked = resolve(file, path);
      if (!exists(linked)) {
        problems.push(`${file}:${line}: ${target} is not in the package`);
      } else if (linked.endsWith(".md")) documents.add(linked);
    }
  }
  return problems;
}
