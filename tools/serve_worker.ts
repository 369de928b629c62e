/**
 * Serves a Worker of the examples in workerd, with the library as it stands here:
 * `deno run -A tools/serve_worker.ts [CONFIG] [--port=PORT]`, where CONFIG is its
 * `wrangler.jsonc`. Its state is kept beside that, under `.wrangler/`.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join, parse, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { serveWorker } from "./conformance/servers.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { port: { type: "string", default: "8787" } },
});
const [given = join(ROOT, "examples/worker/wrangler.jsonc")] = positionals;
// workerd runs in a folder of its own.
const file = resolve(given);
const config = JSON.parse(readFileSync(file, "utf8"));
const folder = join(dirname(file), ".wrangler", parse(file).name);
mkdirSync(folder, { recursive: true });
const server = await serveWorker(
  ROOT,
  resolve(dirname(file), config.main),
  config,
  folder,
  { port: Number(values.port), tell: (text) => process.stderr.write(text) },
);
let isToldToEnd = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    isToldToEnd = true;
    void server.stop().finally(() => process.exit(0));
  });
}
console.log(`listening on ${server.url}`);
const how = await server.ended;
// Ctrl-C reaches workerd too, and it may be gone before this process hears of it.
if (!isToldToEnd && how !== "SIGINT") {
  console.error(`workerd has ended by itself: ${how}`);
  process.exit(1);
}
