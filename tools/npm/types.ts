/** The types of the installed package, as TypeScript reads them in a user's project. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { bringPeers, ROOT, type Said, say } from "./consumer.ts";
import { specifierOf } from "./loading.ts";

/** How projects resolve modules. */
export const RESOLUTIONS = ["bundler", "nodenext"] as const;

/** One of {@link RESOLUTIONS}. */
export type Resolution = typeof RESOLUTIONS[number];

function compile(
  folder: string,
  resolution: Resolution,
  files: readonly string[],
  more: Readonly<Record<string, unknown>>,
): Said {
  const project = join(folder, "tsconfig.json");
  writeFileSync(
    project,
    JSON.stringify({
      compilerOptions: {
        module: resolution === "bundler" ? "esnext" : "nodenext",
        moduleResolution: resolution,
        target: "es2023",
        lib: ["es2023", "esnext.disposable", "dom", "dom.iterable"],
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        verbatimModuleSyntax: resolution === "nodenext",
        noEmit: true,
        types: [],
        ...more,
      },
      files,
    }),
  );
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  return say(process.execPath, ["run", "-A", compiler, "-p", project], folder);
}

/** Compiles imports of every entry, ES modules and (where Node resolves) CommonJS, each declaration checked too. */
export function checkTypes(
  folder: string,
  resolution: Resolution,
  name: string,
  entries: readonly string[],
): Said {
  const specifiers = entries.map((entry) =>
    JSON.stringify(specifierOf(name, entry))
  );
  writeFileSync(
    join(folder, "consumer.mts"),
    specifiers.map((specifier, index) =>
      `import * as entry${index} from ${specifier};\nvoid entry${index};\n`
    ).join(""),
  );
  writeFileSync(
    join(folder, "consumer.cts"),
    specifiers.map((specifier, index) =>
      `import entry${index} = require(${specifier});\nvoid entry${index};\n`
    ).join(""),
  );
  const files = resolution === "nodenext"
    ? ["consumer.mts", "consumer.cts"]
    : ["consumer.mts"];
  return compile(folder, resolution, files, { skipLibCheck: false });
}

/** Compiles a server of the official SDK with a tool that runs as a task: the structural types fit the SDK's. */
export function checkServerTypes(
  folder: string,
  resolution: Resolution,
  name: string,
): Said {
  bringPeers(folder);
  writeFileSync(
    join(folder, "server.mts"),
    `import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { MemoryTaskStore, TaskLifecycle } from ${JSON.stringify(name)};
import { attachTasks, withTaskNotifications } from ${
      JSON.stringify(`${name}/mcp`)
    };

const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
export const handler = withTaskNotifications(createMcpHandler(() => {
  const mcp = new McpServer({ name: "typed", version: "1.0.0" });
  attachTasks(mcp, tasks).registerTool(
    "count",
    { inputSchema: z.object({ to: z.number() }) },
    async ({ to }, task) => {
      const rounds: number = to;
      await task.progress(\`0 of \${rounds}\`);
      return { content: [{ type: "text", text: "done" }] };
    },
  );
  return mcp;
}), tasks);
`,
  );
  // The declarations of the SDK are not ours to check.
  return compile(folder, resolution, ["server.mts"], { skipLibCheck: true });
}
