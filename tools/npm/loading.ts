/** Every entry of the installed package, by `import` and by `require()`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { programOf } from "../test/runtimes.ts";
import { type NpmRuntime, type Said, say } from "./consumer.ts";

/** What {@link loadEntries} needs to know. */
export interface Entries {
  /** The package. */
  readonly name: string;
  /** The names that each entry exports, sorted: what its source exports. */
  readonly names: Readonly<Record<string, readonly string[]>>;
}

/** The specifier of an entry. */
export function specifierOf(name: string, entry: string): string {
  return name + entry.slice(1);
}

/** Loads every entry in both ways, with no other package beside it, and compares what each exports. */
export function loadEntries(
  runtime: NpmRuntime,
  folder: string,
  { name, names }: Entries,
): Said {
  const specifiers = Object.fromEntries(
    Object.entries(names).map(([entry, own]) => [
      specifierOf(name, entry),
      own,
    ]),
  );
  const compare = `
    const found = Object.keys(entry).filter((key) => key !== "__esModule" && key !== "module.exports").sort();
    if (JSON.stringify(found) !== JSON.stringify(names)) {
      console.error(how, specifier, "exports", found, "and its source", names);
      process.exitCode = 1;
    }`;
  writeFileSync(
    join(folder, "load.mjs"),
    `const how = "import";
    for (const [specifier, names] of Object.entries(${
      JSON.stringify(specifiers)
    })) {
      const entry = await import(specifier);${compare}
    }\n`,
  );
  writeFileSync(
    join(folder, "load.cjs"),
    `const how = "require()";
    for (const [specifier, names] of Object.entries(${
      JSON.stringify(specifiers)
    })) {
      const entry = require(specifier);${compare}
    }
    require(${JSON.stringify(`${name}/package.json`)});\n`,
  );
  const program = programOf(runtime);
  const imported = say(program, ["load.mjs"], folder);
  const required = say(program, ["load.cjs"], folder);
  return {
    ok: imported.ok && required.ok,
    output: `${imported.output}\n${required.output}`.trim(),
  };
}

/** What the adapter says where the SDK is missing: it imports fine, and refuses what is no server of it. */
export function withoutPeer(
  runtime: NpmRuntime,
  folder: string,
  name: string,
): Said {
  writeFileSync(
    join(folder, "peer.mjs"),
    `import { MemoryTaskStore, TaskLifecycle } from ${JSON.stringify(name)};
    import { attachTasks } from ${JSON.stringify(`${name}/mcp`)};
    const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
    try {
      attachTasks({}, tasks);
      throw new Error("attachTasks() took what is no server");
    } catch (error) {
      if (
        error.code !== "ERR_INVALID_ARGUMENT" ||
        !error.message.includes("@modelcontextprotocol/server")
      ) throw error;
    }
    await tasks.close();\n`,
  );
  return say(programOf(runtime), ["peer.mjs"], folder);
}
