/** Where the authorization server of a desk listens: it writes that beside the accounts, so that nobody has to say it. */
import { join } from "node:path";
import { isJsonObject } from "../../capabilities/json-object.ts";
import { readStateFile } from "../../capabilities/state-files.ts";
import { writeAtomic } from "../../host/write-atomic.ts";
import { DEFAULT_PORT } from "./protocol.ts";

export function writeServerAddress(root: string, url: string): void {
  writeAtomic(fileOf(root), `${JSON.stringify({ version: 1, url })}\n`);
}

/** Of the last one that was started there. */
export function readServerAddress(root: string): string {
  const read = readStateFile(fileOf(root));
  const url = isJsonObject(read) ? read.url : undefined;
  return typeof url === "string" ? url : `http://127.0.0.1:${DEFAULT_PORT}`;
}

function fileOf(root: string): string {
  return join(root, ".authorization", "server.json");
}
