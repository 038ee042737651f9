/** A minimal MCP client: sends the same frames and headers as the official client, and nothing else. */
import { spawn } from "node:child_process";
import { Agent, request as startRequest } from "node:http";
import { createInterface } from "node:readline";

/** @typedef {{ readonly method: string, readonly params: Readonly<Record<string, unknown>>, readonly name?: string | undefined }} Asked */
/** @typedef {{ readonly ask: (asked: Asked) => Promise<unknown>, readonly close: () => void }} Client returns the result */

const MODERN = "2026-07-28";
const LEGACY = "2025-11-25";
const INFO = { name: "bench", version: "1.0.0" };
const SKILLS = { extensions: { "io.modelcontextprotocol/skills": {} } };
const META = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientInfo": INFO,
  "io.modelcontextprotocol/clientCapabilities": SKILLS,
};

/** @param {readonly string[]} command @param {string} transport @param {import("node:child_process").SpawnOptions} options @returns {Promise<Client>} */
export async function startServer([program = "", ...args], transport, options) {
  const child = spawn(program, args, { ...options, stdio: ["pipe", "pipe", "inherit"] });
  if (!(child.stdin && child.stdout)) throw new Error(`\`${program}\` has no streams.`);
  const lines = createInterface({ input: child.stdout });
  const close = () => void child.kill();
  if (transport === "stdio") return { ask: await openStreams(child.stdin, lines), close };
  for await (const line of lines) {
    const url = /"url":\s*"([^"]+)"/.exec(line)?.[1];
    if (url !== undefined) return { ask: openHttp(url), close };
  }
  throw new Error(`\`${program}\` ended before it said where it serves.`);
}

/** @param {{ error?: { message: string }, result?: unknown }} answer */
function resultOf({ error, result }) {
  if (error) throw new Error(error.message);
  return result;
}

/** @param {import("node:stream").Writable} input @param {import("node:readline").Interface} lines @returns {Promise<Client["ask"]>} */
async function openStreams(input, lines) {
  /** @type {Map<number, (answer: { error?: { message: string } }) => void>} */
  const waiting = new Map();
  let last = 0;
  lines.on("line", (line) => {
    const answer = JSON.parse(line);
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  /** @param {object} message */
  const send = (message) => input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  /** @type {Client["ask"]} */
  const ask = async ({ method, params }) => {
    last += 1;
    const id = last;
    const answered = new Promise((settle) => waiting.set(id, settle));
    send({ id, method, params });
    return resultOf(await answered);
  };
  const hello = { protocolVersion: LEGACY, capabilities: SKILLS, clientInfo: INFO };
  await ask({ method: "initialize", params: hello });
  send({ method: "notifications/initialized" });
  return ask;
}

/** @param {string} url @returns {Client["ask"]} */
function openHttp(url) {
  const agent = new Agent({ keepAlive: true });
  let last = 0;
  return async ({ method, params, name }) => {
    last += 1;
    const body = JSON.stringify({ jsonrpc: "2.0", id: last, method, params: { ...params, _meta: META } });
    const headers = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "mcp-protocol-version": MODERN,
      "mcp-method": method,
      ...(name !== undefined && { "mcp-name": name }),
    };
    /** @type {Promise<string>} */
    const answered = new Promise((settle, fail) => {
      const sent = startRequest(url, { method: "POST", agent, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => settle(text));
      });
      sent.on("error", fail);
      sent.end(body);
    });
    return resultOf(readAnswer(await answered));
  };
}

/** As JSON, or as the last event of a stream. @param {string} text */
function readAnswer(text) {
  const line = text.startsWith("{") ? text : text.slice(text.lastIndexOf("data: ") + "data: ".length);
  return JSON.parse(line);
}
