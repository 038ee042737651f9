/**
 * The door of the capabilities for ONE run: a Unix socket that its sandbox binds, and loopback where that cannot be
 * reached. It knows nothing of capabilities; whoever comes through it needs a token of the run.
 */
import { randomBytes } from "node:crypto";
import { chmodSync } from "node:fs";
import { type AddressInfo, createServer, type ListenOptions, type Server, type Socket } from "node:net";
import { makePrivateSocket } from "../../egress/private-socket.ts";
import type { Serving } from "./perform-request.ts";
import { type ConnectionLimits, serveConnection } from "./serve-connection.ts";

export interface CapabilitySocketParts extends Serving {
  /** A folder that no run sees, as `<state>/capabilities`. Default: the one for temporary files. */
  readonly home?: string;
  /** Also listen on loopback, for a caller that cannot reach a Unix socket. */
  readonly allowTcp?: boolean;
  readonly limits?: Partial<SocketLimits>;
}

export interface SocketLimits extends ConnectionLimits {
  /** At a time; further ones are closed at once. */
  readonly connections: number;
  /** Of requests and answers, over all connections. */
  readonly heldBytes: number;
}

export interface CapabilitySocket {
  /** For `SandboxCommand.capabilitySocket`. */
  readonly socketPath: string;
  readonly tcp?: LoopbackDoor;
  /** Calls under way are cancelled, and the socket is gone. */
  close(): Promise<void>;
}

/** Others of this machine can knock there, so each request brings `bearer` too. */
export interface LoopbackDoor {
  readonly host: string;
  readonly port: number;
  readonly bearer: string;
}

const MEGABYTE = 1024 * 1024;
const LIMITS: SocketLimits = {
  connections: 32,
  heldBytes: 48 * MEGABYTE,
  calls: 8,
  strangers: 32,
  idleMs: 60_000,
  frameMs: 30_000,
};
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
        ...(bearer !== undefined && { bearer }),
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
