/**
 * The door of the capabilities for ONE run: a Unix socket that its sandbox binds, and loopback where that cannot be
 * reached. It knows nothing of capabilities; whoever comes through it needs a token of the run.
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
  /** A folder that no run sees, as `<state>/capabilities`. Default: the one for temporary files. */
  readonly home?: string | undefined;
  /** Also listen on loopback, for a caller that cannot reach a Unix socket. */
  readonly allowTcp?: boolean | undefined;
  readonly limits?: Partial<SocketLimits> | undefined;
}

export interface CapabilitySocket {
  /** For `SandboxCommand.capabilitySocket`. */
  readonly socketPath: string;
  readonly tcp?: LoopbackDoor | undefined;
  /** Calls under way are cancelled, and the socket is gone. */
  close(): Promise<void>;
}

/** Others of this machine can knock there, so each request brings `bearer` too. */
interface LoopbackDoor {
  readonly host: string;
  readonly port: number;
  readonly bearer: string;
}

const MEGABYTE = 1024 * 1024;
const LIMITS = {
  /** At a time; further ones are closed at once. */
  connections: 32,
  /** Of requests and answers, over all connections. */
  heldBytes: 48 * MEGABYTE,
  /** At a time on one connection; further requests are refused. */
  calls: 8,
  /** Requests that are none, or that bring no good token; after so many the connection is closed. */
  strangers: 32,
  /** After so much silence with no call under way it is closed. */
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
    server.on("error", reject); // One that comes later, as when there are no more descriptors, ends one connection.
    server.listen(address, resolve);
  });
}

interface ConnectionParts {
  readonly serving: CapabilityServing;
  readonly limits: SocketLimits;
  readonly bearer?: string | undefined;
  /** How much memory this connection takes now. `false`: all of them together take more than they may. */
  hold(bytes: number): boolean;
}

const MANY = "Too many requests at once on one connection; wait for an answer first.";
const FULL = "Too much is being sent at once; send it again later.";

function tooMuch(message: string): RpcError {
  return notDone({ code: "capability_rate_limited", message });
}

function tooBig(): RpcError {
  const message = `The answer does not fit into a frame of ${MAX_FRAME_BYTES} bytes.`;
  return notDone({ code: "capability_invalid_output", message, hint: "Ask for less." });
}

/**
 * One connection. It can be anybody's that lives in the sandbox: garbage, floods, endless frames and answers that nobody
 * fetches end the connection, and nothing but the connection.
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

  socket.on("error", () => undefined); // It closes then, which is all there is to it.
  socket.on("data", takeAll);
  socket.on("drain", () => {
    fits(); // It takes less now.
    socket.resume();
  });
  socket.setTimeout(limits.idleMs);
  // Each time: one that is over while a call is under way starts by itself no more, nor does an answer that is only queued.
  socket.on("timeout", () => {
    if (underWay === 0) socket.destroy();
    else socket.setTimeout(limits.idleMs);
  });
  socket.once("close", () => {
    outlet.stayOpen();
    gone.abort();
  });
}

/** What goes out of a connection, and when it ends. */
function openOutlet(socket: Socket, frameMs: number, fits: (more: number) => boolean) {
  let deadline: NodeJS.Timeout | undefined;
  const outlet = {
    send(text: string, id: RequestId | null): void {
      if (!socket.writable) return; // Nobody is there to hear it.
      const frame = encodeFrame(text);
      if (frame === undefined) outlet.refuse(id, tooBig());
      else if (!fits(frame.length)) socket.destroy();
      else if (!socket.write(frame)) socket.pause(); // Who does not read is not read.
    },
    refuse: (id: RequestId | null, error: RpcError): void => outlet.send(errorText(id, error), id),
    /** Unless the rest of a frame comes in time. */
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
