/** Temporary folders that are gone when this process is, Ctrl-C included. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

const folders = new Set<string>();

/** Makes a folder; {@link removeFolder} or the end of the process removes it. */
export function temporaryFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  if (folders.size === 0) process.once("exit", removeAll);
  folders.add(folder);
  return folder;
}

/** Removes a folder and all that is in it. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  folders.delete(folder);
  if (folders.size === 0) process.off("exit", removeAll);
}

function removeAll(): void {
  for (const folder of [...folders]) removeFolder(folder);
}
