/** Serves the fixture on Bun. */

import { makeHandler } from "./fixture.ts";

declare const Bun: {
  serve(options: {
    readonly hostname: string;
    readonly port: number;
    readonly idleTimeout: number;
    readonly fetch: (request: Request) => Promise<Response>;
  }): { readonly port: number };
};

const { fetch } = makeHandler();
const { port } = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0, // A call that waits for its answer sends nothing meanwhile.
  fetch: (request) => fetch(request),
});
console.log(`http://127.0.0.1:${port}/mcp`);
