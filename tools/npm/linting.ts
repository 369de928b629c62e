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
