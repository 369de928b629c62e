/** Serves the fixture on Node. */

import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { makeHandler } from "./fixture.ts";

const http = createServer(toNodeHandler(makeHandler()));
http.listen(0, "127.0.0.1", () => {
  const { port } = http.address() as { port: number };
  console.log(`http://127.0.0.1:${port}/mcp`);
});
