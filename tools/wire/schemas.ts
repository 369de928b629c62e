/** The shapes of the extension, as the pinned `@modelcontextprotocol/ext-tasks` has them. */

/** Shapes by name, as JSON Schema, and the constants and the digest of the code beside them. */
export interface WireShapes {
  /** The version of the package. */
  readonly version: string;
  /** SHA-256 of the code: what a schema checks by a function is in no JSON Schema. */
  readonly digest: string;
  /** Each exported schema and string. */
  readonly shapes: Readonly<Record<string, unknown>>;
}

/** How a schema becomes JSON Schema. */
export type ToJsonSchema = (schema: object) => unknown;

/**
 * The shapes that a module exports.
 *
 * @param module The module: names ending in `Schema` are schemas.
 * @param toJsonSchema Describes a schema.
 */
export function shapesOf(
  module: Readonly<Record<string, unknown>>,
  toJsonSchema: ToJsonSchema,
): Record<string, unknown> {
  const shapes: Record<string, unknown> = {};
  for (const name of Object.keys(module).sort()) {
    const value = module[name];
    if (typeof value === "string") shapes[name] = value;
    else if (name.endsWith("Schema") && typeof value === "object" && value) {
      shapes[name] = toJsonSchema(value);
    }
  }
  return shapes;
}

/** What differs between what was recorded and what is there, one line each. */
export function drift(recorded: WireShapes, found: WireShapes): string[] {
  const text = (value: unknown) => JSON.stringify(value) ?? "nothing";
  const names = new Set([
    ...Object.keys(recorded.shapes),
    ...Object.keys(found.shapes),
  ]);
  const lines = [...names].sort()
    .filter((name) => text(recorded.shapes[name]) !== text(found.shapes[name]))
    .map((name) =>
      `${name} was ${text(recorded.shapes[name])} and is ${
        text(found.shapes[name])
      }`
    );
  if (recorded.version !== found.version) {
    lines.push(`the version was ${recorded.version} and is ${found.version}`);
  }
  if (recorded.digest !== found.digest) lines.push("the code has changed");
  return lines;
}
