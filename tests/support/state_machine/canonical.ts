/** One text for one JSON value, whatever the order of its members. */

/**
 * Writes a JSON value with its members in order, so that two values are equal
 * exactly when their texts are. A member that is `undefined` and a
 * `-0`, of which JSON would say nothing, show.
 */
export function canonical(value: unknown): string {
  if (value === undefined) return "undefined";
  if (Object.is(value, -0)) return "-0";
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const members = Object.keys(value).sort().map((key) =>
    `${JSON.stringify(key)}:${
      canonical((value as Record<string, unknown>)[key])
    }`
  );
  return `{${members.join(",")}}`;
}
