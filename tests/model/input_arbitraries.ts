/** Made-up requests, answers and forms, right and wrong. */

import fc, { type Arbitrary } from "../support/fast_check.ts";

/** Plain JSON. */
export type Json =
  | null
  | boolean
  | number
  | string
  | Json[]
  | { [key: string]: Json };

const text = fc.string({ unit: "grapheme", maxLength: 12 });
const json: Arbitrary<Json> = fc.json({ maxDepth: 2 }).map((text) =>
  JSON.parse(text, (_, member) => member === 0 ? 0 : member)
);
const number = fc.double({ noNaN: true, noDefaultInfinity: true })
  .map((value) => value === 0 ? 0 : value);
const weight = fc.double({ min: 0, max: 1, noNaN: true })
  .map((value) => value === 0 ? 0 : value);
const object = fc.dictionary(text, json, { maxKeys: 3, noNullPrototype: true });
const base64 = fc.uint8Array({ maxLength: 9 }).map((bytes) =>
  btoa(String.fromCharCode(...bytes))
);

/** An object with some members that are always there, and some that are not. */
function members(
  required: Record<string, Arbitrary<unknown>>,
  optional: Record<string, Arbitrary<unknown>> = {},
): Arbitrary<Json> {
  return fc.record({ ...required, ...optional }, {
    requiredKeys: Object.keys(required),
    noNullPrototype: true,
  }) as Arbitrary<Json>;
}

function oneOrList(item: Arbitrary<Json>): Arbitrary<Json> {
  return fc.oneof(item, fc.array(item, { maxLength: 3 }));
}

const role = fc.constantFrom("user", "assistant");

const annotations = members({}, {
  audience: fc.array(role, { maxLength: 2 }),
  priority: weight,
  lastModified: fc.constantFrom("2026-03-09", "2026-03-09T01:02:03Z"),
});

const common = { annotations, _meta: object };

const icon = members({ src: text }, {
  mimeType: text,
  sizes: fc.array(text, { maxLength: 2 }),
  theme: fc.constantFrom("light", "dark"),
});

const textBlock = members({ type: fc.constant("text"), text }, common);

const dataBlock = members({
  type: fc.constantFrom("image", "audio"),
  data: base64,
  mimeType: text,
}, common);

const contentBlock = fc.oneof(
  textBlock,
  dataBlock,
  members({ type: fc.constant("resource_link"), name: text, uri: text }, {
    ...common,
    title: text,
    description: text,
    mimeType: text,
    size: fc.nat(),
    icons: fc.array(icon, { maxLength: 2 }),
  }),
  members({
    type: fc.constant("resource"),
    resource: fc.oneof(
      members({ uri: text, text }, { mimeType: text, _meta: object }),
      members({ uri: text, blob: base64 }, { mimeType: text, _meta: object }),
    ),
  }, common),
);

const samplingBlock = fc.oneof(
  textBlock,
  dataBlock,
  members({
    type: fc.constant("tool_use"),
    id: text,
    name: text,
    input: object,
  }, { _meta: object }),
  members({
    type: fc.constant("tool_result"),
    toolUseId: text,
    content: fc.array(contentBlock, { maxLength: 2 }),
  }, { structuredContent: json, isError: fc.boolean(), _meta: object }),
);

const message = members({ role, content: oneOrList(samplingBlock) }, {
  _meta: object,
});

const tool = members({
  name: text,
  inputSchema: members({ type: fc.constant("object") }, {
    $schema: text,
    properties: object,
  }),
}, {
  title: text,
  description: text,
  outputSchema: members({}, { $schema: text, type: json }),
  annotations: members({}, {
    title: text,
    readOnlyHint: fc.boolean(),
    destructiveHint: fc.boolean(),
    idempotentHint: fc.boolean(),
    openWorldHint: fc.boolean(),
  }),
  icons: fc.array(icon, { maxLength: 2 }),
  _meta: object,
});

const sampling = members({
  method: fc.constant("sampling/createMessage"),
  params: members({
    messages: fc.array(message, { maxLength: 3 }),
    maxTokens: fc.integer(),
  }, {
    systemPrompt: text,
    includeContext: fc.constantFrom("none", "thisServer", "allServers"),
    temperature: number,
    stopSequences: fc.array(text, { maxLength: 2 }),
    metadata: object,
    modelPreferences: members({}, {
      hints: fc.array(members({}, { name: text }), { maxLength: 2 }),
      costPriority: weight,
      speedPriority: weight,
      intelligencePriority: weight,
    }),
    tools: fc.array(tool, { maxLength: 2 }),
    toolChoice: members({}, {
      mode: fc.constantFrom("auto", "required", "none"),
    }),
    _meta: object,
  }),
});

const roots = members({ method: fc.constant("roots/list") }, {
  params: members({}, { _meta: object, more: json }),
});

/** A property of a form, with an answer that fits it and answers that do not. */
export interface PropertyCase {
  readonly schema: Json;
  readonly good: Json;
  readonly bad: readonly Json[];
}

/** A character of one code point, of one or two UTF-16 code units. */
const characters = (length: number) =>
  fc.array(fc.constantFrom("a", "é", "語", "😀"), {
    minLength: length,
    maxLength: length,
  }).map((units) => units.join(""));

const bounds = (max: number) =>
  fc.tuple(fc.nat(max), fc.nat(max), fc.nat(max)).map((three) =>
    three.sort((a, b) => a - b)
  );

const labels = { title: text, description: text };

/** A schema with the labels that it may have too. */
const labelled = (
  schema: Record<string, Json>,
  good: Json,
  bad: readonly Json[],
): Arbitrary<PropertyCase> =>
  members({}, labels).map((more) => ({
    schema: { ...schema, ...(more as object) },
    good,
    bad,
  }));

const lengthCase = bounds(5).chain(([min, length, max]) =>
  fc.tuple(
    characters(length),
    characters(max + 1),
    characters(Math.max(0, min - 1)),
  ).chain(([good, long, short]) =>
    labelled({ type: "string", minLength: min, maxLength: max }, good, [
      long,
      ...(min > 0 ? [short] : []),
      7,
    ])
  )
);

const formatCase = fc.constantFrom(
  { format: "email", good: "ann@example.com", bad: ["ann", "a b@c.de"] },
  { format: "uri", good: "https://example.com/a?b#c", bad: ["example", "a b"] },
  { format: "date", good: "2024-02-29", bad: ["2023-02-29", "2026-13-01"] },
  {
    format: "date-time",
    good: "2026-07-28T10:20:30.5+02:00",
    bad: ["2026-07-28T10:20:30", "2026-07-28T25:00:00Z", "2026-07-28"],
  },
).chain(({ format, good, bad }) =>
  labelled({ type: "string", format }, good, [...bad, ["x"]])
);

const numberCase = fc.tuple(number, number, number).map((three) =>
  three.sort((a, b) => a - b)
).chain(([minimum, good, maximum]) =>
  labelled({ type: "number", minimum, maximum }, good, [
    ...(minimum > -Number.MAX_VALUE ? [-Number.MAX_VALUE] : []),
    ...(maximum < Number.MAX_VALUE ? [Number.MAX_VALUE] : []),
    `${good}`,
  ])
);

const integerCase = bounds(50).chain(([minimum, good, maximum]) =>
  labelled({ type: "integer", minimum, maximum }, good, [
    minimum - 1,
    maximum + 1,
    good + 0.5,
    true,
  ])
);

const booleanCase = fc.boolean().chain((good) =>
  labelled({ type: "boolean", default: !good }, good, ["true", 0])
);

const choices = fc.uniqueArray(text, { minLength: 1, maxLength: 4 });

const titled = (values: string[]): Json =>
  values.map((value) => ({ const: value, title: `The ${value}` }));

const singleCase = fc.tuple(choices, fc.nat(), fc.nat(2)).chain(
  ([values, index, kind]) => {
    const other = `${values.join("")}!`;
    const schema: Record<string, Json> = kind === 0
      ? { enum: values }
      : kind === 1
      ? { enum: values, enumNames: values.map((value) => `The ${value}`) }
      : { oneOf: titled(values) };
    return labelled(
      { type: "string", ...schema },
      values[index % values.length],
      [other, 1, [values[0]]],
    );
  },
);

const multiCase = choices.chain((values) =>
  fc.tuple(fc.subarray(values), fc.nat(2), fc.nat(2), fc.boolean()).chain(
    ([good, below, above, plain]) => {
      const minItems = Math.max(0, good.length - below);
      const maxItems = good.length + above;
      const other = `${values.join("")}!`;
      return labelled(
        {
          type: "array",
          minItems,
          maxItems,
          items: plain
            ? { type: "string", enum: values }
            : { anyOf: titled(values) },
        },
        good,
        [
          ...(minItems > 0 ? [good.slice(0, minItems - 1)] : []),
          Array(maxItems + 1).fill(values[0]),
          [...good.slice(1), other],
          values[0],
        ],
      );
    },
  )
);

/** A property of a form, of any kind. */
export const propertyCase: Arbitrary<PropertyCase> = fc.oneof(
  lengthCase,
  formatCase,
  numberCase,
  integerCase,
  booleanCase,
  singleCase,
  multiCase,
);

/** A form: its properties, which of them it requires, and a whole answer. */
export interface FormCase {
  readonly schema: { [key: string]: Json };
  readonly properties: Readonly<Record<string, PropertyCase>>;
  readonly required: readonly string[];
  readonly good: { [key: string]: Json };
}

/** A form with an answer that fits it. */
export const formCase: Arbitrary<FormCase> = fc.dictionary(text, propertyCase, {
  maxKeys: 4,
  noNullPrototype: true,
}).chain((properties) =>
  fc.tuple(
    fc.subarray(Object.keys(properties)),
    fc.subarray(Object.keys(properties)),
  ).map(([required, given]) => {
    const pick = (names: string[], member: "schema" | "good") =>
      Object.fromEntries(names.map((name) => [name, properties[name][member]]));
    return {
      schema: {
        type: "object",
        properties: pick(Object.keys(properties), "schema"),
        ...(required.length > 0 ? { required } : {}),
      },
      properties,
      required,
      good: pick([...new Set([...required, ...given])], "good"),
    };
  })
);

const form = formCase.chain(({ schema }) =>
  members({
    method: fc.constant("elicitation/create"),
    params: members({ message: text, requestedSchema: fc.constant(schema) }, {
      mode: fc.constant("form"),
      _meta: object,
    }),
  })
);

const page = members({
  method: fc.constant("elicitation/create"),
  params: members({
    mode: fc.constant("url"),
    message: text,
    url: fc.webUrl({ validSchemes: ["http", "https"] }),
  }, { elicitationId: text, _meta: object }),
});

/** A request that is right. */
export const inputRequest: Arbitrary<Json> = fc.oneof(
  sampling,
  roots,
  form,
  page,
);

/** A request with an answer that has the right shape. */
export const exchange: Arbitrary<{ request: Json; answer: Json }> = fc.oneof(
  fc.record({
    request: form,
    answer: members({ action: fc.constant("accept") }, {
      content: fc.dictionary(
        text,
        fc.oneof(text, number, fc.boolean(), fc.array(text, { maxLength: 3 })),
        { maxKeys: 3, noNullPrototype: true },
      ),
      _meta: object,
    }),
  }),
  fc.record({
    request: fc.oneof(form, page),
    answer: members({ action: fc.constantFrom("decline", "cancel") }, {
      resultType: fc.constant("complete"),
      _meta: object,
    }),
  }),
  fc.record({
    request: sampling,
    answer: members({ model: text, role, content: oneOrList(samplingBlock) }, {
      stopReason: text,
      _meta: object,
    }),
  }),
  fc.record({
    request: roots,
    answer: members({
      roots: fc.array(
        members({ uri: text.map((path) => `file://${path}`) }, {
          name: text,
          _meta: object,
        }),
        { maxLength: 3 },
      ),
    }, { _meta: object }),
  }),
);

const junk: Arbitrary<Json> = fc.oneof(
  json,
  fc.constantFrom<Json>(
    null,
    "",
    "form",
    "url",
    "text",
    "user",
    "accept",
    "string",
    "object",
    "array",
    0,
    -1,
    1.5,
    [],
    {},
    [""],
    [1],
    { type: "text" },
    { type: "string" },
    true,
  ),
);

/** The same value with something replaced, added or taken away somewhere. */
export function mutated(value: Json): Arbitrary<Json> {
  const places = placesOf(value, []);
  return fc.tuple(fc.constantFrom(...places), junk, fc.nat(3)).map(
    ([place, other, kind]) => {
      const copy = structuredClone(value);
      if (place.length === 0) return kind === 0 ? other : copy;
      let holder = copy as Record<string | number, Json>;
      for (const key of place.slice(0, -1)) {
        holder = holder[key] as Record<string | number, Json>;
      }
      const last = place[place.length - 1];
      if (kind > 0) setMember(holder, last, other);
      else if (Array.isArray(holder)) holder.splice(last as number, 1);
      else delete holder[last];
      return copy;
    },
  );
}

function setMember(
  holder: Record<string | number, Json>,
  key: string | number,
  value: Json,
): void {
  Object.defineProperty(holder, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

function placesOf(
  value: Json,
  path: readonly (string | number)[],
): (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [path];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return [
    path,
    ...keys.flatMap((key) =>
      placesOf((value as Record<string | number, Json>)[key], [...path, key])
    ),
  ];
}
