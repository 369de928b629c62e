/** A Worker whose one object writes what it is told to, for tests that kill it. */

import {
  type DurableObjectAlarmInfo,
  DurableObjectTaskStore,
} from "../../cloudflare.ts";
import { aPatch, aRecord } from "./records.ts";
import type { ObjectContext } from "./workerd_bindings.ts";

/** What the object can be asked, as JSON. */
export type ObjectCommand =
  | { readonly do: "create"; readonly taskId: string }
  | { readonly do: "write"; readonly taskId: string; readonly version: number }
  | { readonly do: "wake"; readonly inMs: number }
  | { readonly do: "look"; readonly taskIds: readonly string[] };

/** What it answers to `look`. */
export interface ObjectState {
  /** The version of each task that is there. */
  readonly versions: Readonly<Record<string, number>>;
  /** The tasks whose record is not of one piece. */
  readonly torn: readonly string[];
  /** How many keys there are. */
  readonly keys: number;
  /** When the host's alarm rang, in milliseconds since the epoch. */
  readonly rangAt?: number;
}

/** A result in three parts, which says of which version it is. */
function resultOf(version: number) {
  return { log: String(version % 10).repeat(250_000) };
}

/** The object. */
export class Writer {
  readonly #storage: ObjectContext["storage"];
  readonly #store: DurableObjectTaskStore;

  constructor({ storage }: ObjectContext) {
    this.#storage = storage;
    this.#store = new DurableObjectTaskStore(storage);
  }

  async alarm(info: DurableObjectAlarmInfo): Promise<void> {
    await this.#store.alarm(async () => {
      await this.#storage.put({ rang: Date.now() });
      console.error("the alarm rang");
    }, info);
  }

  async fetch(request: Request): Promise<Response> {
    return Response.json(await this.#run(await request.json()) ?? null);
  }

  async #run(command: ObjectCommand): Promise<ObjectState | undefined> {
    switch (command.do) {
      case "create":
        await this.#store.create(
          aRecord(command.taskId, { result: resultOf(1) }),
        );
        return;
      case "write": {
        const { taskId, version } = command;
        const result = resultOf(version + 1);
        await this.#store.commit(taskId, aPatch({ result }), version);
        return;
      }
      case "wake":
        await this.#store.setAlarm(Date.now() + command.inMs);
        return;
      case "look":
        return await this.#look(command.taskIds);
    }
  }

  async #look(taskIds: readonly string[]): Promise<ObjectState> {
    const versions: Record<string, number> = {};
    const torn: string[] = [];
    for (const taskId of taskIds) {
      const record = await this.#store.get(taskId);
      if (!record) continue;
      versions[taskId] = record.version;
      if (record.result!.log !== resultOf(record.version).log) {
        torn.push(taskId);
      }
    }
    const all = await this.#storage.list({});
    const rangAt = all.get("rang") as number | undefined;
    return { versions, torn, keys: all.size, rangAt };
  }
}

export default {
  fetch: (
    request: Request,
    env: {
      OBJECT: {
        getByName(name: string): { fetch(request: Request): Promise<Response> };
      };
    },
  ): Promise<Response> => env.OBJECT.getByName("one").fetch(request),
};
