/** Values written short, for reports: never long, whatever the value. */

const MAX_LENGTH = 200;
const MAX_STRING = 60;
const MAX_MEMBERS = 16;
const MAX_DEPTH = 6;

/**
 * Writes a value the way source code would, cut short. It never throws, and
 * takes little time also for what is large or deep.
 *
 * @param value The value.
 * @returns At most about 200 characters.
 */
export function brief(value: unknown): string {
  let room = MAX_LENGTH;

  const write = (value: unknown, depth: number): string => {
    const text = typeof value === "object" && value !== null
      ? container(value, depth)
      : scalar(value);
    room -= text.length;
    return text;
  };

  const container = (value: object, depth: number): string => {
    if (value instanceof Error) return describeError(value);
    const isArray = Array.isArray(value);
    if (depth >= MAX_DEPTH || room <= 0) return isArray ? "[…]" : "{…}";
    const keys: readonly PropertyKey[] = isArray
      ? [...value.slice(0, MAX_MEMBERS).keys()]
      : Reflect.ownKeys(value);
    const length = isArray ? value.length : keys.length;
    const parts: string[] = [];
    for (const key of keys) {
      if (parts.length >= MAX_MEMBERS || room <= 0) break;
      const member = Object.getOwnPropertyDescriptor(value, key);
      const text = member && !("value" in member)
        ? "a getter"
        : write(member?.value, depth + 1);
      parts.push(isArray ? text : `${name(key as string)}: ${text}`);
      room -= isArray ? 2 : name(key as string).length + 4;
    }
    if (parts.length < length) parts.push(`… ${length - parts.length} more`);
    const inner = parts.join(", ");
    if (isArray) return `[${inner}]`;
    const { constructor } = value as { constructor?: { name?: unknown } };
    const label = typeof constructor === "function" && constructor !== Object
      ? `${constructor.name} `
      : "";
    return `${label}{${inner && ` ${inner} `}}`;
  };

  return write(value, 0);
}

/**
 * Writes an error: class, code and message.
 *
 * @param error What was thrown.
 * @returns One line.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return brief(error);
  const code = (error as { code?: unknown }).code;
  const text = `${error.name}${
    typeof code === "string" ? ` (${code})` : " (no code)"
  }: ${error.message}`;
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

function name(key: string | symbol): string {
  if (typeof key === "symbol") return `[${String(key)}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : text(key);
}

function text(value: string): string {
  return value.length > MAX_STRING
    ? `${JSON.stringify(value.slice(0, MAX_STRING))}… of ${value.length}`
    : JSON.stringify(value);
}

function scalar(value: unknown): string {
  if (typeof value === "string") return text(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return "a function";
  return Object.is(value, -0) ? "-0" : String(value);
}
