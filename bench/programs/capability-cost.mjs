/**
 * What one capability call costs through the socket of a run, for each kind of provider, and through a bare socket
 * with the same frames, in turns in one process. Prints the milliseconds of every call as JSON, one after the other
 * and several at a time.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { metierPlaces } from "@metier/base/places";
import { answerWith } from "@metier/capabilities";
import {
  createBroker,
  createCallerTokens,
  openCapabilitySocket,
  wireProviders,
} from "@metier/capabilities/broker";
import { createFrameReader, encodeFrame } from "@metier/sandbox";
import {
  AT_ONCE,
  BARE_PIPE,
  CALLS_PER_ROUND,
  ECHO,
  IN_PROCESS,
  OPERATION,
  PER_CALL,
  PERSISTENT,
} from "../capability/contestants.mjs";

/** @typedef {(params: Readonly<Record<string, unknown>>) => Promise<unknown>} Call of the method `capability.invoke` */

const [folder = "", rounds = "1", warmUps = "0"] = process.argv.slice(2);
const RUN = "run-of-the-bench";
const INPUT = { text: "x".repeat(200) };
const COMMAND = [process.execPath, join(import.meta.dirname, "..", "capability", "bridge.mjs")];
/** @type {Readonly<Record<string, string>>} */
const NAMESPACES = { [IN_PROCESS]: "near", [PERSISTENT]: "staying", [PER_CALL]: "leaving" };

const broker = createBroker({
  providers: wireProviders({
    config: {
      skills: { settings: {} },
      capabilities: {
        providers: { staying: { command: COMMAND, persistent: true }, leaving: { command: COMMAND } },
      },
    },
    places: { home: folder },
    environment: process.env,
    machine: {
      runCommand: () => Promise.reject(new Error("nothing is fetched")),
      findCommand: () => undefined,
      platform: process.platform,
    },
    given: [echoProvider("near")],
  }),
  places: metierPlaces(folder),
  rateLimit: 1_000_000_000, // Counted, but never reached.
});
const tokens = createCallerTokens();
const socket = await openCapabilitySocket({ broker, tokens, runId: RUN, home: join(folder, "run") });
const echo = await openEcho(join(folder, "echo.sock"));

const calls = {
  [ECHO]: await openConnection(join(folder, "echo.sock")),
  [BARE_PIPE]: openPipe(),
  [IN_PROCESS]: await openConnection(socket.socketPath),
  [PERSISTENT]: await openConnection(socket.socketPath),
  [PER_CALL]: await openConnection(socket.socketPath),
};

/** @type {Record<string, { single: number[], together: number[], togetherMs: number }>} */
const results = {};
for (let round = -Number(warmUps); round < Number(rounds); round++) {
  for (const [name, call] of Object.entries(calls)) {
    const token = await mintToken();
    const count = CALLS_PER_ROUND[name] ?? 1;
    const single = await callInLanes(() => invoke(name, call, token), count, 1);
    const started = performance.now();
    const together = await callInLanes(() => invoke(name, call, token), count, AT_ONCE);
    const togetherMs = performance.now() - started;
    if (round < 0) continue;
    const before = results[name] ?? { single: [], together: [], togetherMs: 0 };
    results[name] = {
      single: [...before.single, ...single],
      together: [...before.together, ...together],
      togetherMs: before.togetherMs + togetherMs,
    };
  }
}
process.stdout.write(JSON.stringify(results));
await socket.close();
await broker.close();
echo.close();
process.exit();

/** One per round: a token allows a limited number of calls. */
async function mintToken() {
  const declared = Object.values(NAMESPACES).map((namespace) => `${namespace}.echo`);
  const caller = { userId: "somebody", chatType: "private", runId: RUN, declared };
  return (await tokens.mint(caller, 600_000)).token;
}

/** @param {string} name @param {Call} call @param {string} token */
async function invoke(name, call, token) {
  const capability = `${NAMESPACES[name] ?? "none"}.echo`;
  await call({ capability, operation: "echo", input: INPUT, context_token: token, nonce: randomUUID() });
}

/**
 * @param {() => Promise<void>} work
 * @param {number} count
 * @param {number} lanes how many run at a time
 * @returns {Promise<number[]>} how long each took
 */
async function callInLanes(work, count, lanes) {
  /** @type {number[]} */
  const times = [];
  let left = count;
  const lane = async () => {
    while (left-- > 0) {
      const start = performance.now();
      await work();
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return times;
}

/** @param {string} path @returns {Promise<Call>} */
async function openConnection(path) {
  /** @type {Map<number, (answer: { error?: { message: string } }) => void>} */
  const waiting = new Map();
  const reader = createFrameReader();
  let last = 0;
  const connection = connect(path);
  connection.on("data", (chunk) => {
    for (const frame of reader.push(chunk)) {
      const answer = JSON.parse(frame.toString());
      waiting.get(answer.id)?.(answer);
      waiting.delete(answer.id);
    }
  });
  await new Promise((settle, fail) => {
    connection.once("connect", settle);
    connection.once("error", fail);
  });
  return async (params) => {
    last += 1;
    const id = last;
    const frame = encodeFrame(JSON.stringify({ jsonrpc: "2.0", id, method: "capability.invoke", params }));
    const answer = await new Promise((settle) => {
      waiting.set(id, settle);
      connection.write(frame ?? "");
    });
    if (answer.error) throw new Error(answer.error.message);
  };
}

/** What a bridge costs on its own: the same program, called directly. @returns {Call} */
function openPipe() {
  const [program = "", ...args] = COMMAND;
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  /** @type {Map<number, (value: unknown) => void>} */
  const waiting = new Map();
  let last = 0;
  lines.on("line", (line) => {
    const { id } = JSON.parse(line);
    waiting.get(id)?.(undefined);
    waiting.delete(id);
  });
  return ({ input, context_token }) => {
    last += 1;
    const id = last;
    const params = { input_data: input, context_token };
    const line = JSON.stringify({ version: 1, id, namespace: "alone", method: "invoke", params });
    return new Promise((settle) => {
      waiting.set(id, settle);
      child.stdin.write(`${line}\n`);
    });
  };
}

/** Sends each frame back unchanged. @param {string} path */
async function openEcho(path) {
  const server = createServer((connection) => {
    const reader = createFrameReader();
    connection.on("error", () => connection.destroy());
    connection.on("data", (chunk) => {
      for (const frame of reader.push(chunk)) connection.write(encodeFrame(frame.toString()) ?? "");
    });
  });
  await new Promise((settle) => server.listen(path, () => settle(undefined)));
  return server;
}

/** @param {string} namespace @returns {import("../../packages/capabilities/src/capability.ts").CapabilityProvider} */
function echoProvider(namespace) {
  const capability = { id: `${namespace}.echo`, description: "Echoes.", operations: [OPERATION] };
  return {
    namespace,
    definitions: async () => answerWith([capability]),
    invoke: async ({ input }) => answerWith(input),
  };
}
