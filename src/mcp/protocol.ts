/** The names and numbers of the protocol that the adapter speaks. */

/** The id of the tasks extension, as clients and servers declare it. */
export const TASKS_EXTENSION_ID = "io.modelcontextprotocol/tasks";

/** Where a request of revision 2026-07-28 carries what its client can do. */
export const CLIENT_CAPABILITIES_KEY =
  "io.modelcontextprotocol/clientCapabilities";

/** Where every message of a subscription carries the id of its request. */
export const SUBSCRIPTION_ID_KEY = "io.modelcontextprotocol/subscriptionId";

/** The first revision in which a request says what its client can do. */
export const FIRST_REVISION = "2026-07-28";

/** The JSON-RPC codes that the adapter answers with. */
export const RPC_CODES = {
  /** The method is unknown, as it is to every client of an older revision. */
  methodNotFound: -32601,
  /** The client's request was wrong. */
  invalidParams: -32602,
  /** Something failed on the server; the client learns no more. */
  internalError: -32603,
  /** The client did not declare what the request needs. */
  missingClientCapability: -32021,
  /** The client polls a task much faster than it was told to. */
  polledTooFast: -32029,
} as const;
