/**
 * The allow-list proxy: lets sandboxed processes reach only granted domains, through the same gate as `web_fetch`. It
 * listens on a Unix socket that a sandbox mounts. Each request is checked separately, a refusal says what is not
 * granted, and an error ends only its own connection.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cleanText } from "@metier/base/text";
import { type AddressBook, type EgressRefusal, refuseEgress, SYSTEM_ADDRESSES } from "./check-destination.ts";
import { forwardRequest, isMeantFor, readBeginning, refuseName, splice, whyNotForwarded } from "./pass-on.ts";
import { createReach, portOf, type ReachHost, type ReachOptions } from "./pinned.ts";

export interface EgressProxyOptions extends ReachOptions {
  readonly limits?: Partial<ProxyLimits>;
  /** Where its socket is created: a folder that no run sees. Default: the folder for temporary files. */
  readonly home?: string;
  /** For tests, which talk to loopback. */
  readonly addresses?: AddressBook | undefined;
}

interface ProxyLimits {
  /** Simultaneous connections, each for one request or tunnel; further ones are closed at once. */
  readonly connections: number;
  /** A silent connection is closed after this long. */
  readonly idleMs: number;
  readonly dialMs: number;
}

export interface EgressProxy {
  readonly socketPath: string;
  /** Ends every connection and removes the socket. */
  close(): Promise<void>;
}

const LIMITS: ProxyLimits = { connections: 128, idleMs: 120_000, dialMs: 20_000 };
const MAX_HEADER_BYTES = 16_384;
const OTHER_HOST: EgressRefusal = {
  reason: "not-granted",
  message: "The request in the tunnel is for another host.",
};

export async function openEgressProxy(options: EgressProxyOptions): Promise<EgressProxy> {
  const { addresses = SYSTEM_ADDRESSES } = options;
  const limits = { ...LIMITS, ...options.limits };
  const socket = makePrivateSocket("egress.sock", options.home);
  const closing = new AbortController();
  const open = new Set<Socket>();
  const track = (connection: Socket): Socket => {
    if (open.has(connection)) return connection; // Plain HTTP in a tunnel comes through here a second time.
    open.add(connection);
    connection.on("error", () => undefined); // It is closed, together with its other side.
    connection.once("close", () => open.delete(connection));
    return connection.setTimeout(limits.idleMs, () => connection.destroy());
  };
  const reach = createReach({ ...options, ...limits, addresses, signal: closing.signal, track });
  const server = createProxyServer(limits, track, {
    reach,
    refuse: (host) => options.onRefuse?.(host, OTHER_HOST),
  });
  await listen(server, socket.path).catch((fault: unknown) => {
    socket.remove();
    throw fault;
  });
  return {
    socketPath: socket.path,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        closing.abort();
        for (const connection of open) connection.destroy();
        socket.remove();
      }),
  };
}

interface WayOut {
  readonly reach: ReachHost;
  /** This host was requested in a tunnel to another one. */
  refuse(host: string): void;
}

function createProxyServer(limits: ProxyLimits, track: (client: Socket) => void, way: WayOut): Server {
  /** For plain HTTP in a tunnel: its destination. */
  const tunnels = new WeakMap<Socket, URL>();
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: 0, // A long upload is fine; silence is not.
    headersTimeout: limits.idleMs,
  });
  server.maxConnections = limits.connections;
  server.maxRequestsPerSocket = 1; // Nothing of one request can be taken for part of another.
  server.maxHeadersCount = 0; // Bounded by their size. A dropped header might be the one that frames the body.
  server.timeout = limits.idleMs; // Node resets the timeout for each request, also after `track` set it.
  server.on("connection", track);
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const target = targetOf(request, tunnels.get(request.socket));
    passRequest(request, response, target, way).catch(() => response.destroy());
  });
  server.on("connect", (request: IncomingMessage, client: Socket, head: Buffer) => {
    const readPlain = (url: URL): void => {
      tunnels.set(client, url);
      server.emit("connection", client);
      client.resume();
    };
    client.unshift(head); // Before any await, or a following end would be noticed first.
    openTunnel(request.url ?? "", client, way, readPlain).catch(() => client.destroy());
  });
  return server;
}

/** An absolute URL or, in a tunnel, its path. */
function targetOf({ url = "" }: IncomingMessage, tunnel: URL | undefined): string | undefined {
  if (tunnel && url.startsWith("/")) return `http://${tunnel.hostname}:${portOf(tunnel)}${url}`;
  return !tunnel && /^http:\/\//i.test(url) ? url : undefined;
}

const NOT_FOR_A_PROXY =
  "This is a proxy: request `http://…` by its full URL, and `https://…` with `CONNECT`.";

async function passRequest(
  request: IncomingMessage,
  response: ServerResponse,
  target: string | undefined,
  { reach }: WayOut,
): Promise<void> {
  if (target === undefined) return answerRequest(response, 400, NOT_FOR_A_PROXY);
  const wrong = whyNotForwarded(request);
  if (wrong !== undefined) return answerRequest(response, 400, wrong);
  const reached = await reach(target);
  if (!reached.ok) {
    return answerRequest(response, statusOf(reached.refusal), reached.refusal.message);
  }
  const { url, upstream } = reached.value;
  if (response.destroyed) return void upstream.destroy(); // The client left in the meantime.
  try {
    await forwardRequest(request, response, url, upstream);
  } catch (fault) {
    upstream.destroy();
    if (response.headersSent) return void response.destroy();
    answerRequest(response, 502, `\`${url.host}\` did not answer: ${(fault as Error).message}.`);
  }
}

async function openTunnel(
  authority: string,
  client: Socket,
  { reach, refuse }: WayOut,
  readPlain: (url: URL) => void,
): Promise<void> {
  // Only the port tells the scheme; for other ports it makes no difference.
  const scheme = authority.endsWith(":80") ? "http" : "https";
  const reached = /^[^/?#@\\\s]+:\d{1,5}$/.test(authority)
    ? await reach(`${scheme}://${authority}/`)
    : refuseEgress("invalid", "`CONNECT` needs a host and a port, such as `example.com:443`.");
  if (!reached.ok) return refuseTunnel(client, reached.refusal);
  const { url, upstream } = reached.value;
  client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  const beginning = await readBeginning(client);
  if (beginning.kind === "tls" && url.protocol === "https:" && isMeantFor(url, beginning.serverName)) {
    return splice(client, upstream);
  }
  upstream.destroy();
  if (beginning.kind === "plain") return readPlain(url);
  if (beginning.kind === "closed") return void client.destroy();
  refuse(beginning.serverName ?? url.hostname);
  refuseName(client);
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.on("error", reject); // A later error, such as running out of descriptors, ends one connection.
    server.listen(path, resolve);
  });
}

/* The proxy's own answer: plain text, then the connection closes. */

const PLAIN_TEXT = "text/plain; charset=utf-8";

/** The rest of the request is not read. */
function answerRequest(response: ServerResponse, status: number, message: string): void {
  const body = bodyOf(message);
  const headers = { "content-type": PLAIN_TEXT, "content-length": body.length, connection: "close" };
  response.writeHead(status, headers).end(body);
}

/** Many clients show only the first line of an answer to `CONNECT`. */
function refuseTunnel(client: Socket, refusal: EgressRefusal): void {
  const status = statusOf(refusal);
  const body = bodyOf(refusal.message);
  const lines = [
    `HTTP/1.1 ${status} ${status === 403 ? "Not Granted" : STATUS_CODES[status]}`,
    `Content-Type: ${PLAIN_TEXT}`,
    `Content-Length: ${body.length}`,
    "Connection: close",
  ];
  client.write(`${lines.join("\r\n")}\r\n\r\n`);
  client.end(body);
}

function statusOf({ reason }: EgressRefusal): 403 | 502 {
  return reason === "unresolved" || reason === "unreachable" ? 502 : 403;
}

function bodyOf(message: string): Buffer {
  return Buffer.from(`${cleanText(message).text}\n`);
}

/* A path for a Unix socket that only this user can reach: in a fresh folder, and short enough for the system. */

interface PrivateSocket {
  readonly path: string;
  /** The folder with everything in it. */
  remove(): void;
}

/** Including the terminating zero; the smallest limit of all systems. */
const MAX_PATH_BYTES = 103;

/** Inside `home`, which no run sees, if that is short enough; otherwise in the folder for temporary files. */
export function makePrivateSocket(name: string, home?: string): PrivateSocket {
  const folder = mkdtempSync(join(baseFor(name, home), PREFIX)); // 0700, as `mkdtemp` promises
  if (folders.size === 0) process.on("exit", removeAll);
  folders.add(folder);
  return {
    path: join(folder, name),
    remove() {
      rmSync(folder, { recursive: true, force: true });
      folders.delete(folder);
      if (folders.size === 0) process.off("exit", removeAll);
    },
  };
}

/** Active ones, so that a program that exits midway leaves none behind. */
const folders = new Set<string>();

function removeAll(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

const PREFIX = "metier-";

function baseFor(name: string, home: string | undefined): string {
  if (home !== undefined && isShort(home, name)) {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    return home;
  }
  const base = realpathSync(tmpdir());
  return isShort(base, name) ? base : "/tmp";
}

function isShort(base: string, name: string): boolean {
  return Buffer.byteLength(join(base, `${PREFIX}XXXXXX`, name)) <= MAX_PATH_BYTES;
}
