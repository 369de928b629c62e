/** Whether a filled-in form is what was asked for. */

import type {
  FormSchema,
  PrimitiveSchemaDefinition,
  TitledChoice,
} from "./form_schema.ts";
import { FORMATS } from "./formats.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { alternatives, type Mismatch, mismatch, own, within } from "./shape.ts";

/** Every member that a property of a form may have. */
interface AnyProperty {
  readonly type: PrimitiveSchemaDefinition["type"];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly oneOf?: readonly TitledChoice[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: {
    readonly enum?: readonly string[];
    readonly anyOf?: readonly TitledChoice[];
  };
}

/**
 * Checks the content of an accepted form. What the form does not name is
 * accepted, unless the form says `additionalProperties: false`.
 *
 * @param schema The form, as it was asked.
 * @param content The content, or `undefined` for none.
 * @returns What is wrong, seen from the content.
 */
export function checkFormAnswer(
  schema: FormSchema,
  content: JsonObject | undefined,
): Mismatch | undefined {
  const properties = schema.properties;
  for (const name of schema.required ?? []) {
    if (content === undefined || !Object.hasOwn(content, name)) {
      return within(name, mismatch(undefined, "the form requires it"));
    }
  }
  for (const name of Object.keys(content ?? {})) {
    const value = own(content!, name)!;
    if (Object.hasOwn(properties, name)) {
      const wrong = checkProperty(properties[name] as AnyProperty, value);
      if (wrong) return within(name, wrong);
    } else if (
      (schema as { additionalProperties?: unknown }).additionalProperties ===
        false
    ) {
      return within(name, mismatch(value, "the form has no such property"));
    }
  }
  return undefined;
}

function checkProperty(
  property: AnyProperty,
  value: JsonValue,
): Mismatch | undefined {
  switch (property.type) {
    case "boolean":
      return typeof value === "boolean"
        ? undefined
        : mismatch(value, "true or false is needed");
    case "string":
      return typeof value === "string"
        ? checkText(property, value)
        : mismatch(value, "a string is needed");
    case "array":
      return Array.isArray(value)
        ? checkChoices(property, value)
        : mismatch(value, "an array of strings is needed");
    default:
      return checkNumber(property, value);
  }
}

function checkText(property: AnyProperty, text: string): Mismatch | undefined {
  const { minLength = 0, maxLength = Infinity, format } = property;
  for (
    const choices of [
      property.enum,
      property.oneOf?.map((choice) => choice.const),
    ]
  ) {
    if (choices && !choices.includes(text)) {
      return mismatch(text, `${alternatives(choices)} is needed`);
    }
  }
  if (minLength > 0 || maxLength < text.length) {
    const length = codePoints(text);
    if (length < minLength) {
      return mismatch(text, `at least ${minLength} characters are needed`);
    }
    if (length > maxLength) {
      return mismatch(
        text,
        `at most ${maxLength} characters are allowed, these are ${length}`,
      );
    }
  }
  return FORMATS.get(format ?? "")?.(text) === false
    ? mismatch(text, `a text of format ${format} is needed`)
    : undefined;
}

function checkNumber(
  property: AnyProperty,
  value: JsonValue,
): Mismatch | undefined {
  const { minimum = -Infinity, maximum = Infinity } = property;
  if (typeof value !== "number") return mismatch(value, "a number is needed");
  if (property.type === "integer" && !Number.isInteger(value)) {
    return mismatch(value, "a whole number is needed");
  }
  if (value < minimum) {
    return mismatch(value, `a number from ${minimum} is needed`);
  }
  if (value > maximum) {
    return mismatch(value, `a number up to ${maximum} is needed`);
  }
  return undefined;
}

function checkChoices(
  property: AnyProperty,
  values: readonly JsonValue[],
): Mismatch | undefined {
  const { minItems = 0, maxItems = Infinity, items } = property;
  if (values.length < minItems) {
    return mismatch(values, `at least ${minItems} choices are needed`);
  }
  if (values.length > maxItems) {
    return mismatch(values, `at most ${maxItems} choices are allowed`);
  }
  const choices = items?.anyOf?.map((choice) => choice.const) ?? items?.enum ??
    [];
  const left = new Set<JsonValue>(choices);
  for (let i = 0; i < values.length; i++) {
    if (left.delete(values[i])) continue;
    return within(
      i,
      mismatch(
        values[i],
        choices.includes(values[i] as string)
          ? "a choice counts once"
          : `${alternatives(choices)} is needed`,
      ),
    );
  }
  return undefined;
}

/** Characters as JSON Schema counts them: a pair of surrogates is one. */
function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
