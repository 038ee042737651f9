/**
 * One connection to the socket of a run. It can be anybody's that lives in the sandbox: garbage, floods, endless frames
 * and answers that nobody fetches end the connection, and nothing but the connection.
 */
import type { Socket } from "node:net";
import { createFrameReader, encodeFrame, MAX_FRAME_BYTES } from "../../sandbox/inside/rpc-framing.ts";
import { performRequest, type Serving } from "./perform-request.ts";
import {
  errorText,
  frameTooLong,
  notDone,
  type RequestId,
  type RpcError,
  type RpcRequest,
  readRequest,
} from "./rpc-message.ts";

export interface ConnectionLimits {
  /** At a time; further requests are refused. */
  readonly calls: number;
  /** Requests that are none, or that bring no good token; after so many the connection is closed. */
  readonly strangers: number;
  /** After so much silence with no call under way it is closed. */
  readonly idleMs: number;
  /** From the first byte of a frame to its last. */
  readonly frameMs: number;
}

export interface ConnectionParts {
  readonly serving: Serving;
  readonly limits: ConnectionLimits;
  readonly bearer?: string;
  /** How much memory this connection takes now. `false`: all of them together take more than they may. */
  hold(bytes: number): boolean;
}

const TOO_MANY = notDone({
  code: "capability_rate_limited",
  message: "Too many requests at once on one connection; wait for an answer first.",
});
const TOO_FULL = notDone({
  code: "capability_rate_limited",
  message: "Too much is being sent at once; send it again later.",
});
const TOO_BIG = notDone({
  code: "capability_invalid_output",
  message: `The answer does not fit into a frame of ${MAX_FRAME_BYTES} bytes.`,
  hint: "Ask for less.",
});

export function serveConnection(socket: Socket, parts: ConnectionParts): void {
  const { serving, limits, bearer } = parts;
  const reader = createFrameReader();
  const gone = new AbortController();
  let underWay = 0;
  let bytesUnderWay = 0;
  let strangers = 0;
  let deadline: NodeJS.Timeout | undefined;

  const fits = (more = 0): boolean =>
    parts.hold(reader.heldBytes + bytesUnderWay + socket.writableLength + more);
  const send = (text: string, id: RequestId | null): void => {
    if (!socket.writable) return; // Nobody is there to hear it.
    const frame = encodeFrame(text);
    if (frame === undefined) refuse(id, TOO_BIG);
    else if (!fits(frame.length)) socket.destroy();
    else if (!socket.write(frame)) socket.pause(); // Who does not read is not read.
  };
  const refuse = (id: RequestId | null, error: RpcError): void => send(errorText(id, error), id);
  const closeLater = (): void => {
    deadline ??= setTimeout(() => socket.destroy(), limits.frameMs);
  };
  const hangUp = (error?: RpcError): void => {
    if (!socket.writable) return;
    socket.removeAllListeners("data").resume();
    socket.end((error && encodeFrame(errorText(null, error))) ?? "", () => socket.destroy());
    closeLater();
  };
  const countStranger = (): void => {
    strangers += 1;
    if (strangers >= limits.strangers) hangUp();
  };
  const perform = async (request: RpcRequest, bytes: number): Promise<void> => {
    underWay += 1;
    bytesUnderWay += bytes;
    const door = { signal: gone.signal, ...(bearer !== undefined && { bearer }) };
    const { text, isStranger } = await performRequest(request, serving, door);
    underWay -= 1;
    bytesUnderWay -= bytes;
    send(text, request.id);
    if (isStranger) countStranger();
  };
  const take = (frame: Buffer): void => {
    const read = readRequest(frame);
    if (!read.ok) {
      refuse(read.id, read.error);
      countStranger();
    } else if (underWay < limits.calls) void perform(read.request, frame.length);
    else {
      refuse(read.request.id, TOO_MANY);
      countStranger();
    }
  };
  const takeAll = (chunk: Buffer): void => {
    const frames = reader.push(chunk);
    if (frames.length > 0) {
      clearTimeout(deadline);
      deadline = undefined;
    }
    for (const frame of frames) if (socket.writable) take(frame);
    if (reader.tooLong !== undefined) hangUp(frameTooLong(reader.tooLong, MAX_FRAME_BYTES));
    else if (!fits()) hangUp(TOO_FULL);
    else if (reader.heldBytes > 0) closeLater();
  };

  socket.on("error", () => undefined); // It closes then, which is all there is to it.
  socket.on("data", takeAll);
  socket.on("drain", () => {
    fits(); // It takes less now.
    socket.resume();
  });
  socket.setTimeout(limits.idleMs, () => {
    if (underWay === 0) socket.destroy();
  });
  socket.once("close", () => {
    clearTimeout(deadline);
    gone.abort();
  });
}
