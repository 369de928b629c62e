/** The crash demo of the installed package. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { programOf } from "../test/runtimes.ts";
import { bringPeers, type NpmRuntime, type Said, say } from "./consumer.ts";

/**
 * Plays the demo in a project that has the package and the official SDK, as its README says: from a
 * copy of what was installed.
 *
 * @param runtime Where.
 * @param folder The project.
 * @param name The package.
 */
export function playDemo(
  runtime: NpmRuntime,
  folder: string,
  name: string,
): Said {
  for (const part of ["examples", "src"]) {
    cpSync(join(folder, "node_modules", name, part), join(folder, part), {
      recursive: true,
    });
  }
  bringPeers(folder);
  return say(programOf(runtime), ["examples/crash_recovery/demo.ts"], folder);
}
