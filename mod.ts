/**
 * Durable tasks for MCP servers: the state engine of the Tasks extension
 * (`io.modelcontextprotocol/tasks`, revision 2026-07-28), and a store in
 * memory. It needs nothing of the runtime and imports nothing.
 *
 * ```ts
 * import { MemoryTaskStore, TaskLifecycle } from "@mcp-durable/tasks";
 *
 * const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
 * const { taskId } = await tasks.createTask();
 * await tasks.run(taskId, async (task) => {
 *   await task.progress("1 of 2");
 *   return { content: [{ type: "text", text: "done" }] };
 * });
 * console.log((await tasks.getTask(taskId)).status); // "completed"
 * await tasks.close();
 * ```
 *
 * @module
 */

export { TaskLifecycle } from "./src/engine/lifecycle.ts";
export type { CloseOptions } from "./src/engine/lifecycle.ts";
export type { CreateTaskInit } from "./src/engine/new_record.ts";
export type { TaskAccess } from "./src/engine/access.ts";
export type { TaskEvent, WorkerOutcome } from "./src/engine/events.ts";
export type { ProgressPatch, TaskHandle } from "./src/engine/handle.ts";
export type { ListenOptions, TaskListener } from "./src/engine/listeners.ts";
export type { TaskLifecycleOptions } from "./src/engine/options.ts";
export type { TaskWorker } from "./src/engine/workers.ts";

export { MemoryTaskStore } from "./src/store/memory.ts";
export type { MemoryTaskStoreOptions } from "./src/store/memory.ts";
export type { TaskStore, TaskStoreTraits } from "./src/store/contract.ts";

export { applyTaskPatch, PAYLOAD_FIELDS } from "./src/model/record.ts";
export { isExpired } from "./src/model/expiry.ts";
export { isTerminalStatus } from "./src/model/status.ts";
export { DEFAULT_LIMITS, DEFAULT_MAX_ENTRY_BYTES } from "./src/model/limits.ts";
export type { Expiring } from "./src/model/expiry.ts";
export type {
  CreateMessageRequest,
  ElicitRequest,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  InputRequest,
  InputRequests,
  ListRootsRequest,
} from "./src/model/input_request.ts";
export type {
  CreateMessageResult,
  ElicitResult,
  InputResponse,
  InputResponses,
  InputResponsesTo,
  InputResponseTo,
  ListRootsResult,
  Root,
} from "./src/model/input_response.ts";
export type {
  BooleanSchema,
  FormSchema,
  LegacyTitledEnumSchema,
  NumberSchema,
  PrimitiveSchemaDefinition,
  StringSchema,
  TitledChoice,
  TitledMultiSelectEnumSchema,
  TitledSingleSelectEnumSchema,
  UntitledMultiSelectEnumSchema,
  UntitledSingleSelectEnumSchema,
} from "./src/model/form_schema.ts";
export type {
  CreateMessageRequestParams,
  ModelHint,
  ModelPreferences,
  SamplingMessage,
  Tool,
  ToolAnnotations,
  ToolChoice,
  ToolInputSchema,
} from "./src/model/sampling.ts";
export type {
  Annotations,
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  Icon,
  ImageContent,
  ResourceContents,
  ResourceLink,
  Role,
  SamplingMessageContentBlock,
  TextContent,
  ToolResultContent,
  ToolUseContent,
} from "./src/model/content_block.ts";
export type { JsonObject, JsonValue } from "./src/model/json.ts";
export type { TaskLimits } from "./src/model/limits.ts";
export type {
  PayloadField,
  TaskHead,
  TaskPatch,
  TaskRecord,
} from "./src/model/record.ts";
export type { TaskStatus, TerminalTaskStatus } from "./src/model/status.ts";
export type {
  CancelledTask,
  CancelTaskResult,
  CompletedTask,
  CompleteResult,
  CreateTaskResult,
  DetailedTask,
  FailedTask,
  GetTaskResult,
  InputRequiredTask,
  Task,
  UpdateTaskResult,
  WorkingTask,
} from "./src/model/wire.ts";

export {
  ConcurrentUpdateError,
  DuplicateInputKeyError,
  DuplicateTaskIdError,
  hasErrorCode,
  InputPendingError,
  InputUnavailableError,
  InvalidArgumentError,
  InvalidInputRequestError,
  InvalidInputResponseError,
  isConcurrentUpdateError,
  isDuplicateInputKeyError,
  isDuplicateTaskIdError,
  isInputPendingError,
  isInputUnavailableError,
  isInvalidArgumentError,
  isInvalidInputRequestError,
  isInvalidInputResponseError,
  isLifecycleClosedError,
  isLimitExceededError,
  isNotJsonError,
  isStoreClosedError,
  isStoreDamagedError,
  isStoreFailedError,
  isStoreLockedError,
  isTaskAlreadyTerminalError,
  isTaskCancelled,
  isTaskEntryTooLargeError,
  isTaskFailure,
  isTaskNotFoundError,
  JSON_RPC_CODES,
  LifecycleClosedError,
  LimitExceededError,
  NotJsonError,
  StoreClosedError,
  StoreDamagedError,
  StoreFailedError,
  StoreLockedError,
  TASK_ERRORS,
  TaskAlreadyTerminalError,
  TaskCancelled,
  TaskEntryTooLargeError,
  TaskError,
  TaskFailure,
  TaskNotFoundError,
} from "./src/errors.ts";
export type {
  JsonRpcError,
  TaskErrorCode,
  TaskErrorEntry,
} from "./src/errors.ts";
