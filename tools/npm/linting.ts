/** What the linters of npm packages say of the tarball. */
import { join } from "node:path";
import process from "node:process";
import { type Said, say, TOOLS } from "./consumer.ts";

/** What publint says. */
export function publint(tarball: string): Said {
  const script = join(TOOLS, "publint/src/cli.js");
  return say(
    process.execPath,
    ["run", "-A", script, tarball, "--strict"],
    TOOLS,
  );
}

/** What npm says before it publishes a tarball, without asking a registry or publishing it. */
export function npmPublish(tarball: string): Said {
  const { ok, output } = say(process.execPath, [
    "run",
    "-A",
    join(TOOLS, "npm/bin/npm-cli.js"),
    "publish",
    tarball,
    "--access=public",
    "--dry-run",
    "--offline",
  ], TOOLS);
  // What it would change of its own accord, it warns of.
  const changes = /auto-?corrected|was (?:invalid|normalized|removed)/i;
  return { ok: ok && !changes.test(output), output };
}

/** What "are the types wrong" says of a package of ES modules alone. */
export function attw(tarball: string): Said {
  const script = join(TOOLS, "@arethetypeswrong/cli/dist/index.js");
  return say(process.execPath, [
    "run",
    "-A",
    script,
    tarball,
    "--profile=esm-only",
    "--no-emoji",
  ], TOOLS);
}
