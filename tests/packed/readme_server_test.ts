import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  mkdir,
  mkdtemp,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { buildPackage } from "../../tools/npm/build.ts";
import { programOf } from "../../tools/test/runtimes.ts";
import {
  type ExampleProject,
  freePort,
  whileServing,
} from "../support/example_project.ts";
import { describe, it } from "../support/runner.ts";
import { assertSaysHello } from "../support/say_hello.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const OWN_NAME = "@mcp-durable/tasks";
const SDK = "@modelcontextprotocol";

/** The server that the README prints. */
async function printedServer(): Promise<string> {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const block = readme.match(/```ts ignore\n(.*?)```/s);
  assert.ok(block, "the README prints a server");
  return block[1];
}

/** Puts into a folder what `npm install` would put there. */
async function installTarball(folder: string): Promise<void> {
  const { tarball } = buildPackage(root, join(folder, "npm"));
  const modules = join(folder, "node_modules");
  const target = join(modules, OWN_NAME);
  await mkdir(target, { recursive: true });
  execFileSync("tar", ["xzf", tarball, "--strip-components=1", "-C", target]);
  await symlink(join(root, "node_modules", SDK), join(modules, SDK), "dir");
}

/** Writes into a folder what `deno add` would write there, with `jsr:` resolved to this checkout. */
async function addPackages(folder: string): Promise<void> {
  const { imports, version } = JSON.parse(
    await readFile(join(root, "deno.json"), "utf8"),
  );
  const config = {
    links: [root],
    imports: {
      [OWN_NAME]: `jsr:${OWN_NAME}@^${version}`,
      [`${SDK}/server`]: imports[`${SDK}/server`],
      [`${SDK}/node`]: imports[`${SDK}/node`],
    },
  };
  await writeFile(join(folder, "deno.json"), JSON.stringify(config));
}

/** Runs the printed server in a user's folder, and calls its tool. */
async function assertRunsAsPrinted(
  install: (folder: string) => Promise<void>,
  command: ExampleProject["command"],
): Promise<void> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "readme-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const server = (await printedServer()).replace("3000", `${port}`);
    assert.ok(server.includes(`listen(${port}`));
    await writeFile(join(folder, "server.ts"), server);
    await install(folder);
    const url = new URL(`http://127.0.0.1:${port}/mcp`);
    await whileServing(
      { folder, command, remove },
      url,
      () => assertSaysHello(new StreamableHTTPClientTransport(url)),
    );
  } finally {
    await remove();
  }
}

describe("the README's server", () => {
  it("is the one of examples/hello", async () => {
    const example = join(root, "examples/hello/server.ts");
    assert.equal(await printedServer(), await readFile(example, "utf8"));
  });

  for (const runtime of ["node22", "node24", "node26", "bun"] as const) {
    it(`runs as printed on ${runtime}, from the npm tarball`, () =>
      assertRunsAsPrinted(installTarball, [programOf(runtime), ["server.ts"]]));
  }

  it("runs as printed on Deno, from jsr:", () =>
    assertRunsAsPrinted(addPackages, [
      process.execPath,
      ["run", "-A", "--quiet", "--check", "server.ts"],
    ]));
});
