/**
 * Serves the fixture on workerd. It lives in a Durable Object, since in a plain
 * Worker nothing goes on after the answer.
 */

import { makeHandler } from "./fixture.ts";

interface Env {
  readonly TASKS: {
    getByName(name: string): { fetch(request: Request): Promise<Response> };
  };
}

/** The object with the tasks. */
export class Tasks {
  readonly #handler = makeHandler();

  /** Answers a request. */
  fetch(request: Request): Promise<Response> {
    return this.#handler.fetch(request);
  }
}

export default {
  fetch: (request: Request, env: Env): Promise<Response> =>
    env.TASKS.getByName("all").fetch(request),
};
