/**
 * The forms that a server may ask a person to fill in: a flat object, described
 * by the restricted JSON Schema of the protocol (revision 2026-07-28).
 */

import type { JsonObject, JsonValue } from "./json.ts";
import {
  allOf,
  boolean,
  type Check,
  count,
  isJsonObject,
  listOf,
  type Mismatch,
  mismatch,
  number,
  objectOf,
  oneOf,
  optional,
  own,
  recordOf,
  string,
  variants,
  within,
} from "./shape.ts";

/** A text. */
export interface StringSchema {
  /** The kind of property. */
  readonly type: "string";
  /** A name for people. */
  readonly title?: string;
  /** What it is for. */
  readonly description?: string;
  /** The fewest characters (code points). */
  readonly minLength?: number;
  /** The most characters (code points). */
  readonly maxLength?: number;
  /** What the text has to be. */
  readonly format?: "email" | "uri" | "date" | "date-time";
  /** What the form shows at first. */
  readonly default?: string;
}

/** A number. */
export interface NumberSchema {
  /** The kind of property; an `integer` has no fraction. */
  readonly type: "number" | "integer";
  /** A name for people. */
  readonly title?: string;
  /** What it is for. */
  readonly description?: string;
  /** The smallest number. */
  readonly minimum?: number;
  /** The largest number. */
  readonly maximum?: number;
  /** What the form shows at first. */
  readonly default?: number;
}

/** Yes or no. */
export interface BooleanSchema {
  /** The kind of property. */
  readonly type: "boolean";
  /** A name for people. */
  readonly title?: string;
  /** What it is for. */
  readonly description?: string;
  /** What the form shows at first. */
  readonly default?: boolean;
}

/** One choice of several. */
export interface UntitledSingleSelectEnumSchema {
  /** The kind of property. */
  readonly type: "string";
  /** A name for people. */
  readonly title?: string;
  /** What it is for. */
  readonly description?: string;
  /** The choices, at least one. */
  readonly enum: readonly string[];
  /** What the form shows at first. */
  readonly default?: string;
}

/** One choice of several, each with a name for people. */
export interface TitledSingleSelectEnumSchema {
  /** The kind of property. */
  readonly type: "string";
  /** A name for people. */
  readonly title?: string;
  /** What it is for. */
  readonly description?: string;
  /** The choices, at least one. */
  readonly oneOf: readonly TitledChoice[];
  /** What the form shows at first. */
  readonly default?: string;
}

/** The older form of {@linkcode TitledSingleSelectEnumSchema}. */
export interface LegacyTitledEnumSchema {
  /** The kind of property. */
  readonly type: "string";
  /** A name for people. */
  readonly title?: string;
  /** What it is for. */
  readonly description?: string;
  /** The choices, at least one. */
  readonly enum: readonly string[];
  /** Names for people, in the order of `enum`. */
  readonly enumNames?: readonly string[];
  /** What the form shows at first. */
  readonly default?: string;
}

/** Any number of several choices. */
export interface UntitledMultiSelectEnumSchema {
  /** The kind of property. */
  readonly type: "array";
  /** A name for people. */
  readonly title?: string;
  /** What it is for. */
  readonly description?: string;
  /** The fewest choices. */
  readonly minItems?: number;
  /** The most choices. */
  readonly maxItems?: number;
  /** What can be chosen, each at most once. */
  readonly items: {
    /** Choices are strings. */
    readonly type: "string";
    /** The choices, at least one. */
    readonly enum: readonly string[];
  };
  /** What the form shows at first. */
  readonly default?: readonly string[];
}

/** Any number of several choices, each with a name for people. */
export interface TitledMultiSelectEnumSchema {
  /** The kind of property. */
  readonly type: "array";
  /** A name for people. */
  readonly title?: string;
  /** What it is for. */
  readonly description?: string;
  /** The fewest choices. */
  readonly minItems?: number;
  /** The most choices. */
  readonly maxItems?: number;
  /** What can be chosen, each at most once. */
  readonly items: {
    /** The choices, at least one. */
    readonly anyOf: readonly TitledChoice[];
  };
  /** What the form shows at first. */
  readonly default?: readonly string[];
}

/** A choice with a name for people. */
export interface TitledChoice {
  /** The value that the answer holds. */
  readonly const: string;
  /** What the form shows. */
  readonly title: string;
}

/** One property of a form. */
export type PrimitiveSchemaDefinition =
  | StringSchema
  | NumberSchema
  | BooleanSchema
  | UntitledSingleSelectEnumSchema
  | TitledSingleSelectEnumSchema
  | LegacyTitledEnumSchema
  | UntitledMultiSelectEnumSchema
  | TitledMultiSelectEnumSchema;

/**
 * A form. Keywords of JSON Schema that the protocol does not have here, such
 * as `pattern`, are sent along but not enforced; `additionalProperties: false`
 * is enforced.
 */
export interface FormSchema {
  /** A form is an object. */
  readonly type: "object";
  /** The properties by name. */
  readonly properties: Readonly<Record<string, PrimitiveSchemaDefinition>>;
  /** The names of the properties that have to be there. */
  readonly required?: readonly string[];
  /** The dialect of JSON Schema. */
  readonly $schema?: string;
}

const described = { title: optional(string), description: optional(string) };

const someStrings: Check = listOf(string);

const titledChoices: Check = listOf(objectOf({ const: string, title: string }));

/** Refuses a range that holds nothing. */
function ordered(low: string, high: string): Check {
  return (value) => {
    const from = own(value as JsonObject, low);
    const to = own(value as JsonObject, high);
    if (typeof from !== "number" || typeof to !== "number" || from <= to) {
      return undefined;
    }
    return within(low, mismatch(from, `at most ${high} (${to}) is needed`));
  };
}

/** Refuses an empty list of choices; an absent one is fine. */
function notEmpty(key: string): Check {
  return (value) => {
    const choices = own(value as JsonObject, key);
    return Array.isArray(choices) && choices.length === 0
      ? within(key, mismatch(choices, "at least one choice is needed"))
      : undefined;
  };
}

const stringProperty: Check = allOf(
  objectOf({
    ...described,
    minLength: optional(count),
    maxLength: optional(count),
    format: optional(oneOf("email", "uri", "date", "date-time")),
    enum: optional(someStrings),
    enumNames: optional(someStrings),
    oneOf: optional(titledChoices),
    default: optional(string),
  }),
  ordered("minLength", "maxLength"),
  notEmpty("enum"),
  notEmpty("oneOf"),
);

const numberProperty: Check = allOf(
  objectOf({
    ...described,
    minimum: optional(number),
    maximum: optional(number),
    default: optional(number),
  }),
  ordered("minimum", "maximum"),
);

const titledItems: Check = objectOf({ anyOf: titledChoices });

const untitledItems: Check = objectOf({
  type: oneOf("string"),
  enum: someStrings,
});

const arrayProperty: Check = allOf(
  objectOf({
    ...described,
    minItems: optional(count),
    maxItems: optional(count),
    items: allOf(
      (value) =>
        isJsonObject(value) && own(value, "anyOf") !== undefined
          ? titledItems(value)
          : untitledItems(value),
      notEmpty("anyOf"),
      notEmpty("enum"),
    ),
    default: optional(someStrings),
  }),
  ordered("minItems", "maxItems"),
  enoughChoices,
);

/** Since each choice counts once, `minItems` may ask for more than there are. */
function enoughChoices(value: JsonValue | undefined): Mismatch | undefined {
  const { minItems, items } = value as unknown as {
    minItems?: number;
    items: { enum?: string[]; anyOf?: TitledChoice[] };
  };
  const values = items.anyOf?.map((choice) => choice.const) ?? items.enum;
  const choices = new Set(values).size;
  return minItems === undefined || minItems <= choices ? undefined : within(
    "minItems",
    mismatch(minItems, `at most ${choices}, the number of choices, is needed`),
  );
}

/** A property of a form. */
const property: Check = variants("type", {
  string: stringProperty,
  number: numberProperty,
  integer: numberProperty,
  boolean: objectOf({ ...described, default: optional(boolean) }),
  array: arrayProperty,
});

/** Refuses a required property that the form does not have. */
function requiredExist(value: JsonValue | undefined): Mismatch | undefined {
  const { properties, required = [] } = value as unknown as FormSchema;
  const index = required.findIndex((name) => !Object.hasOwn(properties, name));
  return index < 0 ? undefined : within(
    "required",
    within(
      index,
      mismatch(required[index], "the name of one of the properties is needed"),
    ),
  );
}

/** A form that can be filled in. */
export const formSchema: Check = allOf(
  objectOf({
    type: oneOf("object"),
    properties: recordOf(property),
    required: optional(someStrings),
    $schema: optional(string),
  }),
  requiredExist,
);
