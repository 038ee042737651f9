/** A git server over HTTP on loopback: `git http-backend` behind a few lines of Node, and a way to spoil its answers. */
import { execFileSync, spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export interface GitServer {
  readonly port: number;
  /** `http://127.0.0.1:…` */
  readonly origin: string;
  /** Method and path of what was asked for, in order. */
  readonly requests: readonly string[];
}

export interface GitServerOptions {
  /** Answers itself and gives `true`, or leaves it to git. */
  spoil?(request: IncomingMessage, response: ServerResponse): boolean;
  /** Sends only so many bytes of a pack and then breaks off. */
  readonly cutPackAfter?: number;
  /** Speaks only what git spoke before 2018: it gives out what it lists, and nothing else. */
  readonly speaksOld?: boolean;
  /** Serves over TLS. */
  readonly certificate?: { readonly key: string; readonly cert: string };
}

/** Serves every repository below `root`. */
export async function startGitServer(root: string, options: GitServerOptions = {}): Promise<GitServer> {
  const requests: string[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    requests.push(`${request.method} ${request.url}`);
    if (!options.spoil?.(request, response)) serve(root, request, response, options);
  };
  const server = options.certificate ? createSecureServer(options.certificate, answer) : createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, origin: `http://127.0.0.1:${port}`, requests };
}

let backend: string | undefined;

function backendPath(): string {
  backend ??= join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-http-backend");
  return backend;
}

function serve(
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
  { cutPackAfter, speaksOld = false }: GitServerOptions,
): void {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://loopback");
  const child = spawn(backendPath(), [], {
    env: {
      PATH: process.env.PATH ?? "",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      REQUEST_METHOD: request.method ?? "GET",
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: searchParams.toString(),
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: String(request.headers["content-encoding"] ?? ""),
      GIT_PROTOCOL: speaksOld ? "" : String(request.headers["git-protocol"] ?? ""),
    },
  });
  request.pipe(child.stdin);
  child.stdin.on("error", () => undefined); // It may answer before it has read everything.
  let head: Buffer | undefined = Buffer.alloc(0);
  let sent = 0;
  const isPack = request.method === "POST" && pathname.endsWith("/git-upload-pack");
  const send = (chunk: Buffer): void => {
    const left = isPack && cutPackAfter !== undefined ? cutPackAfter - sent : chunk.length;
    sent += chunk.length;
    response.write(chunk.subarray(0, Math.max(0, left)));
    if (left < chunk.length) response.socket?.destroySoon();
  };
  child.stdout.on("data", (chunk: Buffer) => {
    if (head === undefined) return send(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) return;
    const lines = head.toString("latin1", 0, end).split("\r\n");
    const body = head.subarray(end + 4);
    head = undefined;
    for (const line of lines) {
      const [name = "", value = ""] = line.split(/:\s*(.*)/);
      if (name.toLowerCase() === "status") response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    if (body.length > 0) send(body);
  });
  child.stdout.on("end", () => response.end());
}
