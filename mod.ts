/**
 * Durable tasks for MCP servers.
 *
 * @module
 */
export * from "./src/errors.ts";
