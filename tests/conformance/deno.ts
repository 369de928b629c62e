/** Serves the fixture on Deno. */

import { makeHandler } from "./fixture.ts";

const { fetch } = makeHandler();
Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(`http://127.0.0.1:${port}/mcp`),
}, (request) => fetch(request));
