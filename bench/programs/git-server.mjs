/**
 * Serves the repositories in a folder over HTTP on loopback with `git http-backend`, for benches whose own process
 * waits for the programs it measures. `git-server.mjs <folder> <file>` writes its port to the file.
 */
import { execFileSync, spawn } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const [folder = "", portFile = ""] = process.argv.slice(2);
const BACKEND = join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-http-backend");

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://loopback");
  const child = spawn(BACKEND, [], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: searchParams.toString(),
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  request.pipe(child.stdin);
  child.stdin.on("error", () => undefined); // It may answer before it has read everything.
  /** @type {Buffer | undefined} */
  let head = Buffer.alloc(0);
  child.stdout.on("data", (chunk) => {
    if (head === undefined) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    writeHead(response, head.subarray(0, end).toString("latin1"));
    response.write(head.subarray(end + 4));
    head = undefined;
  });
  child.on("close", () => response.end());
});

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  writeFileSync(`${portFile}.new`, String(typeof address === "object" ? address?.port : ""));
  renameSync(`${portFile}.new`, portFile);
});

/** In CGI format: header lines, one of which may be `Status`. @param {import("node:http").ServerResponse} response @param {string} head */
function writeHead(response, head) {
  for (const line of head.split("\r\n")) {
    const [name = "", value = ""] = line.split(/:\s*/, 2);
    if (name.toLowerCase() === "status") response.statusCode = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
}
