/**
 * Holds the extension's own schemas against those that the library was written for:
 * `deno run -A tools/wire_schemas.ts [--write]`.
 *
 * A new `@modelcontextprotocol/ext-tasks` that asks for something else fails here, by the name of the
 * schema. Then `src/model/` follows, with its tests, and `--write` records the new shapes.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as extension from "@modelcontextprotocol/ext-tasks/core/v2";
import { z } from "zod";
import { drift, shapesOf, type WireShapes } from "./wire/schemas.ts";

const RECORD = fileURLToPath(new URL("wire/schemas.json", import.meta.url));

/** Where the answers to a difference are. */
const PLACES = [
  "src/model/wire.ts and tests/engine/wire_schema_test.ts",
  "src/model/input_request.ts, src/model/input_response.ts and tests/model/input_oracle_test.ts",
  "src/mcp/protocol.ts and tests/mcp/gate_test.ts",
  "docs/contract.md",
];

function find(): WireShapes {
  const entry = fileURLToPath(
    import.meta.resolve("@modelcontextprotocol/ext-tasks/core/v2"),
  );
  const folder = dirname(entry);
  const hash = createHash("sha256");
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith(".js")) continue;
    hash.update(`${file}\n${readFileSync(join(folder, file), "utf8")}`);
  }
  const manifest = join(folder, "../../../package.json");
  return {
    version: JSON.parse(readFileSync(manifest, "utf8")).version,
    digest: hash.digest("hex"),
    shapes: shapesOf(
      extension,
      (schema) =>
        z.toJSONSchema(schema as z.ZodType, {
          unrepresentable: "any",
          io: "input",
        }),
    ),
  };
}

const found = find();
if (process.argv.includes("--write")) {
  writeFileSync(RECORD, `${JSON.stringify(found, undefined, 2)}\n`);
} else {
  const problems = drift(JSON.parse(readFileSync(RECORD, "utf8")), found);
  for (const problem of problems) console.error(problem);
  if (problems.length) {
    console.error(
      `Look whether it concerns ${
        PLACES.join("; ")
      }. Then: deno task schemas --write`,
    );
    process.exitCode = 1;
  }
}
