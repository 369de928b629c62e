/** How a schema checks a value, and what it finds wrong. */

import type { SchemaLike } from "./shapes.ts";

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[];
}

/** What a schema makes of a value, or what is wrong with it. */
export type Validated =
  | { readonly value: unknown }
  | { readonly problem: string };

/**
 * Checks a value, and describes what is wrong as the SDK does, so that a task
 * says the same as a direct answer.
 *
 * @param schema The schema.
 * @param value The value.
 * @returns What the schema makes of it, or the problem.
 */
export async function validate(
  schema: SchemaLike,
  value: unknown,
): Promise<Validated> {
  const result = await schema["~standard"].validate(value) as {
    readonly issues?: readonly Issue[];
    readonly value?: unknown;
  };
  return result.issues && result.issues.length > 0
    ? { problem: result.issues.map(describe).join(", ") }
    : { value: result.value };
}

function describe({ message, path = [] }: Issue): string {
  const steps = path.map((step) =>
    String(typeof step === "object" ? step.key : step)
  );
  return steps.length === 0 ? message : `${steps.join(".")}: ${message}`;
}
