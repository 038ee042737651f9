/** The socket of a run over a broker that lives in memory, and a client that says whatever a test wants it to say. */

import { connect, type NetConnectOpts, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import {
  answerFault,
  answerWith,
  type CallerTokens,
  type CapabilityBroker,
  type CapabilityCaller,
  type CapabilityListing,
  type CapabilitySocket,
  type CapabilitySocketParts,
} from "@metier/capabilities";
import { createCallerTokens, openCapabilitySocket } from "@metier/capabilities/broker";
import { createFrameReader, encodeFrame } from "@metier/sandbox";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./temporary.ts";

export const RUN_ID = "run-1";
export const ANNA: CapabilityCaller = {
  userId: "anna",
  chatType: "private",
  runId: RUN_ID,
  skill: "desk",
  declared: ["desk.mail"],
};

/** What a broker was asked: the function, for whom, and with what. */
export type Asked = readonly [string, ...unknown[]];

const LISTING: CapabilityListing = {
  id: "desk.mail",
  description: "Mail.",
  sensitive: true,
  allowedChatTypes: ["private"],
  available: true,
  requiresAuth: true,
  authenticated: true,
  linkedAccounts: [
    { accountRef: "work", accountEmail: "anna@example.com", createdAt: "2030-01-01T00:00:00Z" },
  ],
  operations: [
    {
      name: "read",
      description: "Reads.",
      requiresAuth: true,
      mutating: false,
      idempotent: false,
      inputSchema: { type: "object" },
    },
  ],
};
const FLOW = {
  flowId: "caf_1",
  capability: "desk.mail",
  account: "work",
  authUrl: "https://id.example/device",
  flowType: "device_code" as const,
  expiresAt: "2030-01-01T00:00:00Z",
  userCode: "ABCD",
  pollIntervalSeconds: 5,
};
const COMPLETED = {
  flowId: "caf_1",
  capability: "desk.mail",
  accountRef: "work",
  accountEmail: "anna@example.com",
};

export interface MemoryBroker extends CapabilityBroker {
  readonly asked: readonly Asked[];
}

/** `echo` answers with its input, `hang` when the caller gives up; anything else is refused, or thrown. */
export function createMemoryBroker(polls: readonly ("pending" | "complete")[] = ["complete"]): MemoryBroker {
  const asked: Asked[] = [];
  const left = [...polls];
  const note = (...call: Asked): void => void asked.push(call);
  return {
    asked,
    async list(caller, options) {
      note("list", caller, options);
      return [LISTING];
    },
    async preflight() {
      return undefined;
    },
    forget: async () => undefined,
    async invoke(caller, request, options = {}) {
      const { signal, confirm } = options;
      note("invoke", caller, request, confirm !== undefined);
      const { capability, operation, input = {} } = request;
      if (operation === "throw") throw new Error("secret detail of the host");
      if (operation === "hang") {
        await new Promise((resolve) => signal?.addEventListener("abort", resolve, { once: true }));
        note("cancelled");
        return answerFault("capability_cancelled", "The caller gave up.");
      }
      if (typeof input.afterMs === "number") await delay(input.afterMs);
      const output = operation === "grow" ? { text: "x".repeat(Number(input.length)) } : input;
      if (operation === "echo" || operation === "grow") {
        return answerWith({ requestId: "cap_1", capability, operation, output, isRepeat: false });
      }
      return answerFault("capability_rate_limited", "Too many.", { hint: "Wait.", retryAfterSeconds: 7 });
    },
    auth: {
      async begin(caller, request) {
        note("begin", caller, request);
        return answerWith(FLOW);
      },
      async list(caller, filter) {
        note("auth list", caller, filter);
        return [FLOW];
      },
      async complete(caller, request) {
        note("complete", caller, request);
        return answerWith(COMPLETED);
      },
      async completeCallback(caller, url) {
        note("complete callback", caller, url);
        return answerWith(COMPLETED);
      },
      async poll(caller, flowId) {
        note("poll", caller, flowId);
        const isPending = left.shift() === "pending";
        return answerWith(
          isPending
            ? { status: "pending", flowId, retryAfterSeconds: 1 }
            : { status: "complete", ...COMPLETED },
        );
      },
      unlink: () => Promise.reject(new Error("No method of the socket unlinks.")),
    },
    providers: async () => [],
    close: async () => undefined,
  };
}

export interface OpenedSocket extends CapabilitySocket {
  readonly broker: MemoryBroker;
  readonly tokens: CallerTokens;
  /** For Anna's run. */
  mint(more?: Partial<CapabilityCaller>): Promise<string>;
}

export async function openTestSocket(
  parts: Partial<CapabilitySocketParts> & { readonly broker?: MemoryBroker } = {},
): Promise<OpenedSocket> {
  const broker = parts.broker ?? createMemoryBroker();
  const tokens = createCallerTokens();
  const socket = await openCapabilitySocket({
    tokens,
    runId: RUN_ID,
    home: temporaryFolder(),
    ...parts,
    broker,
  });
  onTestFinished(() => socket.close());
  return {
    ...socket,
    broker,
    tokens,
    mint: async (more = {}) => (await tokens.mint({ ...ANNA, ...more }, 60_000)).token,
  };
}

export interface RpcReply {
  readonly jsonrpc: string;
  readonly id: unknown;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
}

export interface RawClient {
  readonly socket: Socket;
  /** Bytes as they are. */
  write(bytes: Uint8Array): void;
  /** A text in a frame. */
  send(text: string): void;
  /** The next answer; `undefined`: the connection was closed before it came. */
  next(): Promise<RpcReply | undefined>;
  readonly closed: Promise<void>;
}

export function openClient(address: NetConnectOpts | string): RawClient {
  const socket = connect(typeof address === "string" ? { path: address } : address);
  const reader = createFrameReader();
  const replies: RpcReply[] = [];
  const waiting: ((reply: RpcReply | undefined) => void)[] = [];
  let isClosed = false;
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined); // It closes, which is what tests look at.
  socket.on("data", (chunk) => {
    for (const frame of reader.push(chunk)) replies.push(JSON.parse(frame.toString()) as RpcReply);
    while (waiting.length > 0 && replies.length > 0) waiting.shift()?.(replies.shift());
  });
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => {
      isClosed = true;
      for (const each of waiting) each(undefined);
      resolve();
    });
  });
  return {
    socket,
    closed,
    write: (bytes) => void socket.write(bytes),
    send: (text) => void socket.write(encodeFrame(text) ?? ""),
    next: () =>
      replies.length > 0 || isClosed
        ? Promise.resolve(replies.shift())
        : new Promise((resolve) => waiting.push(resolve)),
  };
}

let requests = 0;

export function requestText(method: unknown, params: unknown, more: object = {}): string {
  requests += 1;
  return JSON.stringify({ jsonrpc: "2.0", id: requests, method, params, ...more });
}

/** One request with a good token and a fresh nonce. */
export async function ask(
  opened: OpenedSocket,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
): Promise<RpcReply | undefined> {
  const client = openClient(opened.socketPath);
  const context_token = await opened.mint();
  client.send(requestText(method, { context_token, nonce: `n${requests}`, ...params }));
  const reply = await client.next();
  client.socket.destroy();
  return reply;
}

/** Until it holds; a test that waits in vain runs into its own limit. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resume) => setTimeout(resume, 5));
}
