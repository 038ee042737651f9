/**
 * The capability socket of ONE run: a Unix socket that its sandbox mounts, and loopback where that is unreachable. It
 * knows nothing about capabilities; callers need a token of the run.
 */
import { randomBytes } from "node:crypto";
import { chmodSync } from "node:fs";
import { type AddressInfo, createServer, type ListenOptions, type Server, type Socket } from "node:net";
import { createFrameReader, encodeFrame, MAX_FRAME_BYTES } from "@metier/sandbox";
import { makePrivateSocket } from "@metier/sandbox/egress";
import {
  type CapabilityServing,
  errorText,
  frameTooLong,
  notDone,
  performRequest,
  type RequestId,
  type RpcError,
  type RpcRequest,
  readRequest,
} from "./perform-request.ts";

export interface CapabilitySocketParts extends CapabilityServing {
  /** A folder that no run sees, such as `<state>/capabilities`. Default: the folder for temporary files. */
  readonly home?: string | undefined;
  /** Also listen on loopback, for a caller that cannot reach a Unix socket. */
  readonly allowTcp?: boolean | undefined;
  readonly limits?: Partial<SocketLimits> | undefined;
}

export interface CapabilitySocket {
  /** For `SandboxCommand.capabilitySocket`. */
  readonly socketPath: string;
  readonly tcp?: LoopbackDoor | undefined;
  /** Cancels active calls and removes the socket. */
  close(): Promise<void>;
}

/** Others on this machine can connect too, so each request also needs `bearer`. */
interface LoopbackDoor {
  readonly host: string;
  readonly port: number;
  readonly bearer: string;
}

const MEGABYTE = 1024 * 1024;
const LIMITS = {
  /** Simultaneous connections; further ones are closed at once. */
  connections: 32,
  /** For requests and answers, over all connections. */
  heldBytes: 48 * MEGABYTE,
  /** Simultaneous requests on one connection; further ones are refused. */
  calls: 8,
  /** Invalid requests, or ones without a valid token, before the connection is closed. */
  strangers: 32,
  /** Closed after this long without data or an active call. */
  idleMs: 60_000,
  /** From the first byte of a frame to its last. */
  frameMs: 30_000,
};
type SocketLimits = Readonly<typeof LIMITS>;
const LOOPBACK = "127.0.0.1";
const BEARER_BYTES = 32;

export async function openCapabilitySocket(parts: CapabilitySocketParts): Promise<CapabilitySocket> {
  const limits = { ...LIMITS, ...parts.limits };
  const held = new Map<Socket, number>();
  const servers: Server[] = [];
  const socket = makePrivateSocket("capability.sock", parts.home);

  const serve = async (address: ListenOptions, bearer?: string): Promise<Server> => {
    const server = createServer((connection) => {
      if (held.size >= limits.connections) return void connection.destroy();
      held.set(connection, 0);
      connection.once("close", () => held.delete(connection));
      serveConnection(connection, {
        serving: parts,
        limits,
        hold(bytes) {
          held.set(connection, bytes);
          return [...held.values()].reduce((sum, each) => sum + each, 0) <= limits.heldBytes;
        },
        bearer,
      });
    });
    servers.push(server);
    await listen(server, address);
    return server;
  };
  const close = async (): Promise<void> => {
    const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    for (const connection of held.keys()) connection.destroy();
    await Promise.all(closed);
    socket.remove();
  };

  try {
    await serve({ path: socket.path });
    chmodSync(socket.path, 0o600);
    if (!parts.allowTcp) return { socketPath: socket.path, close };
    const bearer = randomBytes(BEARER_BYTES).toString("base64url");
    const server = await serve({ host: LOOPBACK, port: 0 }, bearer);
    const { port } = server.address() as AddressInfo;
    return { socketPath: socket.path, tcp: { host: LOOPBACK, port, bearer }, close };
  } catch (fault) {
    await close();
    throw fault;
  }
}

function listen(server: Server, address: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.on("error", reject); // A later error, such as running out of descriptors, ends one connection.
    server.listen(address, resolve);
  });
}

interface ConnectionParts {
  readonly serving: CapabilityServing;
  readonly limits: SocketLimits;
  readonly bearer?: string | undefined;
  /** How much memory this connection uses now. `false`: all connections together exceed the limit. */
  hold(bytes: number): boolean;
}

const MANY = "Too many simultaneous requests on one connection; wait for an answer first.";
const FULL = "Too much data is being sent at once; send it again later.";

function tooMuch(message: string): RpcError {
  return notDone({ code: "capability_rate_limited", message });
}

function tooBig(): RpcError {
  const message = `The answer does not fit into a frame of ${MAX_FRAME_BYTES} bytes.`;
  return notDone({ code: "capability_invalid_output", message, hint: "Ask for less." });
}

/**
 * One connection, possibly from anything in the sandbox: garbage, floods, endless frames and unread answers end this
 * connection, and only this one.
 */
function serveConnection(socket: Socket, { serving, limits, bearer, hold }: ConnectionParts): void {
  const reader = createFrameReader();
  const gone = new AbortController();
  let underWay = 0;
  let bytesUnderWay = 0;
  let strangers = 0;

  const fits = (more = 0): boolean => hold(reader.heldBytes + bytesUnderWay + socket.writableLength + more);
  const outlet = openOutlet(socket, limits.frameMs, fits);
  const countStranger = (): void => {
    strangers += 1;
    if (strangers >= limits.strangers) outlet.hangUp();
  };
  const perform = async (request: RpcRequest, bytes: number): Promise<void> => {
    underWay += 1;
    bytesUnderWay += bytes;
    const { text, isStranger } = await performRequest(request, serving, { signal: gone.signal, bearer });
    underWay -= 1;
    bytesUnderWay -= bytes;
    outlet.send(text, request.id);
    if (isStranger) countStranger();
  };
  const take = (frame: Buffer): void => {
    const read = readRequest(frame);
    if (read.ok && underWay < limits.calls) return void perform(read.value, frame.length);
    if (read.ok) outlet.refuse(read.value.id, tooMuch(MANY));
    else outlet.refuse(read.refusal.id, read.refusal.error);
    countStranger();
  };
  const takeAll = (chunk: Buffer): void => {
    const frames = reader.push(chunk);
    if (frames.length > 0) outlet.stayOpen();
    for (const frame of frames) if (socket.writable) take(frame);
    if (reader.tooLong !== undefined) outlet.hangUp(frameTooLong(reader.tooLong, MAX_FRAME_BYTES));
    else if (!fits()) outlet.hangUp(tooMuch(FULL));
    else if (reader.heldBytes > 0) outlet.closeLater();
  };

  socket.on("error", () => undefined); // It closes then; nothing else to do.
  socket.on("data", takeAll);
  socket.on("drain", () => {
    fits(); // It uses less now.
    socket.resume();
  });
  socket.setTimeout(limits.idleMs);
  // Each time: a timer that fired during a call does not restart by itself, nor does an answer that is only queued.
  socket.on("timeout", () => {
    if (underWay === 0) socket.destroy();
    else socket.setTimeout(limits.idleMs);
  });
  socket.once("close", () => {
    outlet.stayOpen();
    gone.abort();
  });
}

/** Writes to a connection, and closes it. */
function openOutlet(socket: Socket, frameMs: number, fits: (more: number) => boolean) {
  let deadline: NodeJS.Timeout | undefined;
  const outlet = {
    send(text: string, id: RequestId | null): void {
      if (!socket.writable) return; // Nobody is there to read it.
      const frame = encodeFrame(text);
      if (frame === undefined) outlet.refuse(id, tooBig());
      else if (!fits(frame.length)) socket.destroy();
      else if (!socket.write(frame)) socket.pause(); // We do not read from a client that does not read.
    },
    refuse: (id: RequestId | null, error: RpcError): void => outlet.send(errorText(id, error), id),
    /** Unless the rest of a frame arrives in time. */
    closeLater(): void {
      deadline ??= setTimeout(() => socket.destroy(), frameMs);
    },
    stayOpen(): void {
      clearTimeout(deadline);
      deadline = undefined;
    },
    hangUp(error?: RpcError): void {
      if (!socket.writable) return;
      socket.removeAllListeners("data").resume();
      socket.end((error && encodeFrame(errorText(null, error))) ?? "", () => socket.destroy());
      outlet.closeLater();
    },
  };
  return outlet;
}
