/**
 * The capability socket: frames for both ends, and the client for the inside, with one connection and one answer per
 * request. Its settings are in environment variables.
 */
import { randomUUID } from "node:crypto";
import { connect, type NetConnectOpts } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/*
 * A frame: four bytes of length, big-endian, then that many bytes of JSON. A reader accepts any chunks and holds no
 * more than has arrived.
 */

/** Bytes in a frame's content. */
export const MAX_FRAME_BYTES: number = 10 * 1024 * 1024;

const PREFIX_BYTES = 4;
/** A buffer starts at this size and doubles, so a claimed length costs nothing. */
const FIRST_BYTES = 4096;

/** `undefined`: the text does not fit into a frame. */
export function encodeFrame(text: string): Buffer | undefined {
  const length = Buffer.byteLength(text);
  if (length > MAX_FRAME_BYTES) return undefined;
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + length);
  frame.writeUInt32BE(length);
  frame.write(text, PREFIX_BYTES);
  return frame;
}

interface FrameReader {
  /** Returns the frames that are complete. After `tooLong` the rest cannot be separated, so nothing more is read. */
  push(chunk: Uint8Array): readonly Buffer[];
  /** The claimed length, if it exceeds the limit. */
  readonly tooLong: number | undefined;
  /** Bytes of an incomplete frame. */
  readonly heldBytes: number;
}

export function createFrameReader(): FrameReader {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  let prefixBytes = 0;
  let body = Buffer.alloc(0);
  let bodyBytes = 0;
  let tooLong: number | undefined;

  const takePrefix = (chunk: Uint8Array): number => {
    const taken = Math.min(PREFIX_BYTES - prefixBytes, chunk.length);
    prefix.set(chunk.subarray(0, taken), prefixBytes);
    prefixBytes += taken;
    return taken;
  };
  const takeBody = (chunk: Uint8Array, length: number): number => {
    const taken = Math.min(length - bodyBytes, chunk.length);
    if (bodyBytes + taken > body.length) {
      const size = Math.max(bodyBytes + taken, 2 * body.length, FIRST_BYTES);
      const grown = Buffer.allocUnsafe(Math.min(length, size));
      body.copy(grown, 0, 0, bodyBytes);
      body = grown;
    }
    body.set(chunk.subarray(0, taken), bodyBytes);
    bodyBytes += taken;
    return taken;
  };
  const finish = (length: number): Buffer => {
    const frame = body.subarray(0, length);
    [body, bodyBytes, prefixBytes] = [Buffer.alloc(0), 0, 0];
    return frame;
  };

  return {
    push(chunk) {
      const frames: Buffer[] = [];
      let rest = chunk;
      while (rest.length > 0 && tooLong === undefined) {
        rest = rest.subarray(takePrefix(rest));
        if (prefixBytes < PREFIX_BYTES) break;
        const length = prefix.readUInt32BE();
        if (length > MAX_FRAME_BYTES) tooLong = length;
        else {
          rest = rest.subarray(takeBody(rest, length));
          if (bodyBytes === length) frames.push(finish(length));
        }
      }
      return frames;
    },
    get tooLong() {
      return tooLong;
    },
    get heldBytes() {
      return prefixBytes + bodyBytes;
    },
  };
}

export type RpcParams = Readonly<Record<string, unknown>>;

/** Why there is no result; what a command prints. */
export interface ClientFault {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly retry_after_seconds?: number;
}

type RpcAnswer =
  | { readonly ok: true; readonly result: RpcParams }
  | { readonly ok: false; readonly fault: ClientFault };

const TRIES = 3;
const BETWEEN_TRIES_MS = 500;
const REQUEST_ID = 1;

export async function askHost(
  method: string,
  params: RpcParams,
  env: NodeJS.ProcessEnv = process.env,
): Promise<RpcAnswer> {
  const context_token = env.METIER_CONTEXT_TOKEN ?? env.ASH_CONTEXT_TOKEN;
  const doors = findDoors(env);
  if (!context_token || doors.length === 0) return fail(NO_CAPABILITIES);
  const bearer = env.METIER_RPC_BEARER || undefined;
  // The same nonce in every try, so that the host does nothing twice.
  const all = { ...params, context_token, nonce: randomUUID(), bearer };
  const frame = encodeFrame(JSON.stringify({ jsonrpc: "2.0", id: REQUEST_ID, method, params: all }));
  if (frame === undefined) return fail(TOO_LONG);
  let wasSent = false;
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (tries > 0) await wait(BETWEEN_TRIES_MS);
    for (const door of doors) {
      const answer = await exchange(door, frame);
      if (typeof answer !== "string")
        return wasSent && isReplay(answer) ? fail(NO_ANSWER) : readAnswer(answer);
      wasSent ||= answer === "closed";
    }
  }
  return fail(wasSent ? NO_ANSWER : NOT_REACHED);
}

/** The Unix socket first. */
function findDoors(env: NodeJS.ProcessEnv): readonly NetConnectOpts[] {
  const path = env.METIER_RPC_SOCKET ?? env.ASH_RPC_SOCKET;
  const port = Number(env.METIER_RPC_PORT ?? env.ASH_RPC_PORT);
  const host = env.METIER_RPC_HOST ?? env.ASH_RPC_HOST ?? "127.0.0.1";
  return [...(path ? [{ path }] : []), ...(port > 0 ? [{ host, port }] : [])];
}

/** `unreached`: nothing was sent. `closed`: it may have been sent, but there was no answer. */
function exchange(door: NetConnectOpts, frame: Buffer): Promise<unknown> {
  return new Promise((resolve) => {
    const reader = createFrameReader();
    let isConnected = false;
    const socket = connect(door, () => {
      isConnected = true;
      socket.write(frame);
    });
    socket.on("error", () => undefined); // It closes then.
    socket.on("close", () => resolve(isConnected ? "closed" : "unreached"));
    socket.on("data", (chunk) => {
      const [answer] = reader.push(chunk);
      if (answer === undefined && reader.tooLong === undefined) return;
      resolve(answer === undefined ? {} : parse(answer));
      socket.destroy();
    });
  });
}

function parse(answer: Buffer): unknown {
  try {
    return (JSON.parse(answer.toString()) as unknown) ?? {};
  } catch {
    return {}; // Reported as an answer that cannot be understood.
  }
}

interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: { readonly code: string; readonly hint?: string; readonly retry_after_seconds?: number };
}

function readAnswer(answer: unknown): RpcAnswer {
  const { result, error } = answer as { readonly result?: RpcParams; readonly error?: WireError };
  if (result !== undefined) return { ok: true, result };
  if (error === undefined) return fail(NOT_UNDERSTOOD);
  const { message, data } = error;
  if (data === undefined)
    return fail({ code: isTokenFault(error) ? "invalid_context_token" : "invalid_request", message });
  const prefix = `${data.code}: `;
  return fail({ ...data, message: message.startsWith(prefix) ? message.slice(prefix.length) : message });
}

function isTokenFault({ message }: WireError): boolean {
  return message.startsWith("Invalid context token");
}

function isReplay(answer: unknown): boolean {
  const { error } = answer as { readonly error?: WireError };
  return error !== undefined && isTokenFault(error) && error.message.includes("(replayed)");
}

function fail(fault: ClientFault): RpcAnswer {
  return { ok: false, fault };
}

const NO_CAPABILITIES: ClientFault = {
  code: "no_capabilities",
  message: "This command has no capabilities: its environment has no token and socket.",
  hint: "A run has them if its skill is trusted and lists them under `capabilities`.",
};
const NOT_REACHED: ClientFault = {
  code: "host_not_reached",
  message: `The host was unreachable in ${TRIES} tries.`,
  hint: "The run of this command may have ended.",
};
const NO_ANSWER: ClientFault = {
  code: "host_gave_no_answer",
  message: "The host closed the connection without an answer; the outcome is unknown.",
  hint: "Check the outcome before you ask again, and use an idempotency key.",
};
const NOT_UNDERSTOOD: ClientFault = {
  code: "answer_not_understood",
  message: "The host's answer is not valid JSON-RPC 2.0.",
};
const TOO_LONG: ClientFault = {
  code: "request_too_long",
  message: `The request does not fit into a frame of ${MAX_FRAME_BYTES} bytes.`,
  hint: "Send less at once.",
};
