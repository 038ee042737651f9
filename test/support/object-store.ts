/** A real S3 API on loopback, gone when the test ends. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const PROGRAM = join(import.meta.dirname, "object-store-process.ts");
const BUCKET = "metier-test";
const KEY = "S3RVER";

export interface TestObjectStore {
  /** For `--object-store`. */
  readonly address: string;
  /** With its credentials. */
  readonly environment: {
    readonly METIER_OBJECT_STORE_KEY: string;
    readonly METIER_OBJECT_STORE_SECRET: string;
  };
  stop(): Promise<void>;
}

export async function startObjectStore(prefix = "metier"): Promise<TestObjectStore> {
  const store = await runObjectStore(prefix);
  onTestFinished(store.stop);
  return store;
}

/** Until `stop`, for several tests. */
export async function runObjectStore(prefix = "metier"): Promise<TestObjectStore> {
  const folder = mkdtempSync(join(tmpdir(), "metier-s3-"));
  const execArgv = ["--openssl-legacy-provider"];
  const child = fork(PROGRAM, [folder, BUCKET], { execArgv, stdio: ["ignore", "pipe", "inherit", "ipc"] });
  const exited = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout?.once("data", (line: Buffer) => resolve(Number(line.toString())));
    exited.then(() => reject(new Error("The object store did not start.")), reject);
  });
  return {
    address: `s3://${BUCKET}/${prefix}?endpoint=http://127.0.0.1:${port}`,
    environment: { METIER_OBJECT_STORE_KEY: KEY, METIER_OBJECT_STORE_SECRET: KEY },
    stop,
  };
}
