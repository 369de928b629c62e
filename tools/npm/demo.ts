/** The crash demo, from the installed package. */
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { programOf } from "../test/runtimes.ts";
import {
  bringPeers,
  type NpmRuntime,
  ROOT,
  type Said,
  say,
} from "./consumer.ts";
import { specifierOf } from "./loading.ts";

/**
 * Plays the demo in a project that has the package and the official SDK.
 *
 * @param runtime Where.
 * @param folder The project.
 * @param name The package.
 * @param exports The entries, with the files that they have in the checkout.
 */
export function playDemo(
  runtime: NpmRuntime,
  folder: string,
  name: string,
  exports: Readonly<Record<string, string>>,
): Said {
  const example = join(folder, "examples/crash_recovery");
  mkdirSync(join(folder, "examples"), { recursive: true });
  cpSync(join(ROOT, "examples/crash_recovery"), example, { recursive: true });
  // What its tasks index: any folder of text would do.
  cpSync(join(ROOT, "src"), join(folder, "src"), { recursive: true });
  bringPeers(folder);
  for (const file of readdirSync(example)) {
    if (!file.endsWith(".ts")) continue;
    let text = readFileSync(join(example, file), "utf8");
    for (const [entry, source] of Object.entries(exports)) {
      const inCheckout = `from "../../${source.replace(/^\.\//, "")}"`;
      text = text.replaceAll(
        inCheckout,
        `from ${JSON.stringify(specifierOf(name, entry))}`,
      );
    }
    if (text.includes('from "../../')) {
      return { ok: false, output: `${file} imports what is no entry` };
    }
    writeFileSync(join(example, file), text);
  }
  return say(programOf(runtime), ["examples/crash_recovery/demo.ts"], folder);
}
