/** The `package.json` of the npm package. */
import type { NpmFacts } from "./facts.ts";

/** What of `deno.json` the package needs. */
export interface DenoConfig {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, string>>;
}

/** What `deno pack` writes. */
export interface PackedManifest {
  readonly type: string;
  readonly main: string;
  readonly types: string;
  readonly exports: Readonly<
    Record<string, { readonly types: string; readonly default: string }>
  >;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * Makes the `package.json`, from what `deno pack` wrote and what it has no place for.
 *
 * @param packed What `deno pack` wrote.
 * @param config `deno.json`.
 * @param facts What else there is to say.
 * @throws {Error} The package would install another one, or an entry is missing.
 */
export function completeManifest(
  packed: PackedManifest,
  config: DenoConfig,
  facts: NpmFacts,
): Record<string, unknown> {
  const dependencies = Object.keys(packed.dependencies ?? {});
  if (dependencies.length > 0) {
    throw new Error(
      `Cannot pack ${
        dependencies.join(", ")
      } as a dependency: published code imports no package`,
    );
  }
  const exports: Record<string, unknown> = {};
  for (const entry of Object.keys(config.exports)) {
    const { types, default: file } = packed.exports[entry] ?? {};
    if (!types || !file) {
      throw new Error(`Cannot pack ${entry}: deno pack left it out`);
    }
    // One condition for import and require(): Node 22.12 and newer require ES modules.
    exports[entry] = { types, default: file };
  }
  const peers = Object.keys(facts.optionalPeers);
  return {
    name: config.name,
    version: config.version,
    description: config.description,
    keywords: facts.keywords,
    license: config.license,
    ...(facts.repository
      ? {
        homepage: `${facts.repository}#readme`,
        bugs: `${facts.repository}/issues`,
        repository: { type: "git", url: `git+${facts.repository}.git` },
      }
      : {}),
    type: packed.type,
    main: packed.main,
    types: packed.types,
    exports: { ...exports, "./package.json": "./package.json" },
    sideEffects: false,
    engines: facts.engines,
    peerDependencies: facts.optionalPeers,
    peerDependenciesMeta: Object.fromEntries(
      peers.map((name) => [name, { optional: true }]),
    ),
  };
}
