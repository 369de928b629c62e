/** What the npm package says of itself beyond `deno.json`. This is the one place for each of these facts. */

/** What {@link NPM_FACTS} holds. */
export interface NpmFacts {
  /** What people search by. */
  readonly keywords: readonly string[];
  /** The runtimes that it is for. */
  readonly engines: Readonly<Record<string, string>>;
  /** Packages that an entry works with, and that the user brings. None is imported at run time. */
  readonly optionalPeers: Readonly<Record<string, string>>;
  /**
   * Where the sources are, `https://…`; `--repository=URL` of `deno task npm` goes before it. npm
   * needs it for provenance, and resolves the links of the README by it.
   */
  readonly repository: string | undefined;
  /** The most bytes that an entry may take in a browser bundle, minified and gzipped. */
  readonly bundleBudgets: Readonly<Record<string, number>>;
}

/** The facts. */
export const NPM_FACTS: NpmFacts = {
  keywords: [
    "mcp",
    "model-context-protocol",
    "mcp-server",
    "tasks",
    "sep-2663",
    "durable",
    "long-running",
    "crash-recovery",
    "write-ahead-log",
    "deno",
    "bun",
    "cloudflare-workers",
  ],
  engines: { node: ">=22.13" },
  optionalPeers: { "@modelcontextprotocol/server": "^2.3.0" },
  repository: undefined,
  bundleBudgets: { ".": 24_000, "./mcp": 28_000 },
};
