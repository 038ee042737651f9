/**
 * The driver's sockets. The driver creates its own, but treats a lost one as usable between the error and the end: a
 * statement sent then is never answered, or gets another one's answer. So an error is reported together with the end.
 * That includes TLS sockets, which are therefore created here too.
 */
import { connect as connectPlainly, isIP, Socket } from "node:net";
import { connect as connectSecurely, type TLSSocket } from "node:tls";
import { isPassing, NO_TLS } from "./faults.ts";

/** As `sslmode` in a database URL: TLS if the server has it; always; only with a certificate for its name. */
export type Security = "disable" | "prefer" | "require" | "verify-full";

interface ServerPlace {
  readonly host: string;
  readonly port: number;
  /** A socket in the file system, instead of both. */
  readonly path?: string | undefined;
  readonly security: Security;
}

/** What a client sends before it uses TLS: eight bytes, with the number of the request. */
const REQUEST_TLS = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const HAS_TLS = "S".charCodeAt(0);
const TIMEOUT_MS = 10_000;

/** Never rejects: a socket that can't be opened fails like any other. */
export async function connectSocket(place: ServerPlace): Promise<Socket> {
  const { host, port, path, security } = place;
  const plain = path === undefined ? connectPlainly(port, host) : connectPlainly(path);
  if (security === "disable" || path !== undefined) return tellFaultAtEnd(plain);
  try {
    if (await hasTls(plain)) return tellFaultAtEnd(await secure(plain, place));
    if (security === "prefer") return tellFaultAtEnd(plain);
    throw new Error("the server does not support it");
  } catch (fault) {
    plain.destroy();
    return failedSocket(isPassing(fault) ? fault : new TlsError(fault));
  }
}

function hasTls(plain: Socket): Promise<boolean> {
  plain.write(REQUEST_TLS);
  return settled(plain, (resolve) => {
    plain.once("data", (answer) => {
      // More bytes come from someone in between, who wants them taken for data sent under TLS.
      if (answer.length === 1) resolve(answer[0] === HAS_TLS);
      else plain.destroy(new Error("The TLS answer is not from Postgres."));
    });
  });
}

function secure(plain: Socket, { host, security }: ServerPlace): Promise<TLSSocket> {
  const socket = connectSecurely({
    socket: plain,
    ...(isIP(host) === 0 && { servername: host }),
    host,
    rejectUnauthorized: security === "verify-full",
  });
  return settled(socket, (resolve) => {
    socket.once("secureConnect", () => resolve(socket));
  });
}

function settled<Value>(socket: Socket, wait: (resolve: (value: Value) => void) => void): Promise<Value> {
  return new Promise<Value>((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(lost("ETIMEDOUT")), TIMEOUT_MS);
    const fail = (fault: unknown): void => {
      clearTimeout(timer);
      reject(fault);
    };
    const close = (): void => fail(lost("ECONNRESET"));
    socket.once("error", fail).once("close", close);
    wait((value) => {
      clearTimeout(timer);
      socket.off("error", fail).off("close", close);
      resolve(value);
    });
  });
}

/** Formatted like the system's own connection errors. */
function lost(code: "ETIMEDOUT" | "ECONNRESET"): Error {
  return Object.assign(new Error(`The connection was lost before TLS was set up (${code}).`), {
    code,
    errno: code,
  });
}

class TlsError extends Error {
  readonly code = NO_TLS;

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function failedSocket(fault: unknown): Socket {
  const socket = tellFaultAtEnd(new Socket());
  setImmediate(() => socket.destroy(fault instanceof Error ? fault : new Error(String(fault))));
  return socket;
}

/** An end always follows an error. */
function tellFaultAtEnd(socket: Socket): Socket {
  const emit = socket.emit.bind(socket);
  let fault: unknown;
  socket.emit = (name: string | symbol, ...values: unknown[]): boolean => {
    if (name === "error") {
      fault ??= values[0];
      return true;
    }
    if (name === "close" && fault !== undefined) emit("error", fault);
    return emit(name, ...values);
  };
  return socket;
}
