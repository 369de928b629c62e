/** The server SDK at each version that the adapter is tested with. */

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

/** The versions: the lowest that works, and the one of the other tests. */
export const SDK_VERSIONS = ["2.3.0", "2.4.0"] as const;

/** One of {@linkcode SDK_VERSIONS}. */
export type SdkVersion = typeof SDK_VERSIONS[number];

/** The parts of a version. Its types are those of the newest. */
export interface Sdk {
  /** `@modelcontextprotocol/server`. */
  readonly server: typeof import("@modelcontextprotocol/server");
  /** `@modelcontextprotocol/server/stdio`. */
  readonly stdio: typeof import("@modelcontextprotocol/server/stdio");
  /** What its `package.json` says. */
  readonly version: string;
}

/** The project's own packages, and those beside them. */
const [own, beside] = ["../../deno.json", "../runtimes/package.json"].map(
  (file) => createRequire(new URL(file, import.meta.url)),
);

/** Who finds each version, and under which name. */
const PLACES: Readonly<
  Record<SdkVersion, readonly [require: NodeJS.Require, name: string]>
> = {
  "2.3.0": [beside, "server-2.3.0"],
  "2.4.0": [own, "@modelcontextprotocol/server"],
};

/**
 * Loads a version. It is required, since Deno imports packages of one version
 * alone, and requires whatever is in the folders.
 *
 * @param version Which.
 * @returns Its parts.
 */
export async function loadSdk(version: SdkVersion): Promise<Sdk> {
  const [require, name] = PLACES[version];
  const manifest = join(require.resolve(name), "../../package.json");
  return {
    server: require(name),
    stdio: require(`${name}/stdio`),
    version: JSON.parse(await readFile(manifest, "utf8")).version,
  };
}
