/** A throw-away S3-compatible object store on loopback, for tests, benches and manual trials. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const BUCKET = "runs";
/** The only credentials that s3rver accepts. */
const KEY = "S3RVER";

/**
 * @typedef {object} ObjectStore
 * @property {string} url `s3://…`, as `--object-store` takes it
 * @property {Readonly<Record<string, string>>} environment with the key for it
 * @property {number} pid
 * @property {() => Promise<void>} stop
 */

/**
 * Starts it on a new folder, or on one that an earlier start created.
 *
 * @param {{ folder: string }} options
 * @returns {Promise<ObjectStore>}
 */
export async function startObjectStore({ folder }) {
  const program = createRequire(import.meta.url).resolve("s3rver/bin/s3rver.js");
  // Its multi-page lists need old ciphers.
  const args = [
    "--openssl-legacy-provider",
    program,
    "-d",
    folder,
    "-a",
    "127.0.0.1",
    "-p",
    "0",
    "-s",
    "--configure-bucket",
    BUCKET,
  ];
  const server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => void server.once("exit", resolve));
  /** @type {string} */
  const port = await new Promise((resolve, reject) => {
    server.once("exit", (code) => reject(new Error(`The object store ended with ${code}.`)));
    createInterface(server.stdout).on("line", (line) => {
      const [, found] = /listening on \S+:(\d+)$/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  return {
    url: `s3://${BUCKET}?endpoint=http://127.0.0.1:${port}`,
    environment: { METIER_OBJECT_STORE_KEY: KEY, METIER_OBJECT_STORE_SECRET: KEY },
    pid: Number(server.pid),
    async stop() {
      server.kill("SIGKILL");
      await ended;
    },
  };
}
