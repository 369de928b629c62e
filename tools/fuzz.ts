/**
 * Sends fuzzed frames to a server over HTTP: `deno run -A tools/fuzz.ts [FRAMES]`, by default 10^5,
 * one half of them to a server with `MemoryTaskStore` and one to a server with `WalTaskStore`.
 */
import process from "node:process";
import { fuzzServer } from "../tests/support/mcp_fuzz.ts";
import { withTempDir } from "../tests/support/wal_dir.ts";

/** A server that kept 42 bytes of each of 50,000 frames would be over it. */
const SLACK_BYTES = 2 * 1024 * 1024;

const frames = Number(process.argv[2] ?? 100_000);
if (!Number.isSafeInteger(frames) || frames < 2) {
  throw new Error(
    `Cannot send ${process.argv[2]} frames: 2 or more are needed`,
  );
}
const half = Math.ceil(frames / 2);
await withTempDir(async (dir) => {
  for (const args of [["memory"], ["wal", dir]]) {
    const started = performance.now();
    const { before, after } = await fuzzServer(args, half, SLACK_BYTES);
    const seconds = Math.round((performance.now() - started) / 1_000);
    console.log(
      `${
        args[0]
      }: ${half} frames in ${seconds} s, each answered; heap of the server ${before} bytes before, ${after} after`,
    );
  }
});
