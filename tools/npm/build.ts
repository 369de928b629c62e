/** Builds the npm package: `deno pack`, and what it has no place for. */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import {
  linkedFiles,
  packedDocument,
  packedExample,
} from "../publish/documents.ts";
import { NPM_FACTS } from "./facts.ts";
import { completeManifest } from "./manifest.ts";

/** A package that was built. */
export interface BuiltPackage {
  /** The tarball. */
  readonly tarball: string;
  /** The folder that it was made of. */
  readonly folder: string;
}

/**
 * Builds the package from a checkout.
 *
 * @param root The checkout.
 * @param output The folder for it, emptied first.
 * @param repository Where the sources are, in place of what `facts.ts` says.
 * @returns The package.
 */
export function buildPackage(
  root: string,
  output: string,
  repository: string | undefined = NPM_FACTS.repository,
): BuiltPackage {
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  // Relative names for tar: the one of Windows reads C: as the name of a machine.
  const raw = "packed.tgz";
  execFileSync(process.execPath, [
    "pack",
    "--quiet",
    "--allow-dirty",
    "--no-source-maps", // they hold paths of this machine
    "-o",
    join(output, raw),
  ], { cwd: root, stdio: ["ignore", "ignore", "pipe"] });
  execFileSync("tar", ["xzf", raw], { cwd: output });
  rmSync(join(output, raw));

  const folder = join(output, "package");
  const manifest = join(folder, "package.json");
  const config = JSON.parse(readFileSync(join(root, "deno.json"), "utf8"));
  const complete = completeManifest(
    JSON.parse(readFileSync(manifest, "utf8")),
    config,
    { ...NPM_FACTS, repository },
  );
  writeFileSync(manifest, `${JSON.stringify(complete, undefined, 2)}\n`);

  const linked = linkedFiles(root, "README.md");
  for (const file of linked) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
  for (const file of ["README.md", ...linked]) {
    const path = join(folder, file);
    if (file.endsWith(".md")) {
      const text = packedDocument(
        readFileSync(path, "utf8"),
        file,
        (other) => existsSync(join(folder, other)),
      );
      writeFileSync(path, text);
    } else if (/^examples\/.*\.ts$/.test(file)) {
      const { name, exports } = config;
      const text = packedExample(readFileSync(path, "utf8"), name, exports);
      writeFileSync(path, text);
    }
  }

  const name = `${config.name.replace("@", "").replace("/", "-")}`;
  const tarball = `${name}-${config.version}.tgz`;
  execFileSync("tar", ["czf", tarball, "package"], { cwd: output });
  return { tarball: join(output, tarball), folder };
}
