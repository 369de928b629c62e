/**
 * Checks that a tag may be published: `deno run -A tools/check_release.ts v1.2.3`.
 *
 * It is the version of `deno.json`, and the changelog says what is in it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** What stands in the way of a release, one line each. */
export function checkRelease(
  tag: string,
  version: string,
  changelog: string,
): string[] {
  const problems: string[] = [];
  if (tag !== `v${version}`) {
    problems.push(`the tag is ${tag}, and deno.json has version ${version}`);
  }
  const heading = new RegExp(
    `^## \\[${RegExp.escape(version)}\\] - \\d{4}-\\d\\d-\\d\\d$`,
    "m",
  ).exec(changelog);
  if (!heading) {
    problems.push(
      `CHANGELOG.md has no section "## [${version}] - " with its date`,
    );
  } else {
    const rest = changelog.slice(heading.index + heading[0].length);
    if (!/^- /m.test(rest.split(/^## /m)[0]!)) {
      problems.push(`the section of ${version} in CHANGELOG.md says nothing`);
    }
  }
  return problems;
}

if (import.meta.main) {
  const root = fileURLToPath(new URL("../", import.meta.url));
  const read = (file: string) => readFileSync(join(root, file), "utf8");
  const { version } = JSON.parse(read("deno.json"));
  const [tag = ""] = process.argv.slice(2);
  const problems = checkRelease(tag, version, read("CHANGELOG.md"));
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length ? 1 : 0;
}
