/**
 * A model provider on loopback for third-party programs: four wire formats, always as a stream, and a model that does
 * what the prompt says (`directives.mjs`). It keeps all requests, and refuses those it doesn't know.
 */
import { createServer } from "node:http";
import { anthropicMessages } from "./anthropic-messages.mjs";
import { chatCompletions } from "./chat-completions.mjs";
import { chooseAnswer } from "./directives.mjs";
import { geminiContent } from "./gemini-content.mjs";
import { responses } from "./responses.mjs";

const FORMATS = [anthropicMessages, chatCompletions, responses, geminiContent];
const LARGEST_BODY = 8 * 1024 * 1024;
const MOST_REQUESTS = 100;

/**
 * @typedef {object} ProviderRequest
 * @property {string} line method, path and the status of the answer
 * @property {string} text the body
 * @property {number} results how many tool results the conversation had; 0 if the request was refused
 */

/**
 * @typedef {object} FakeProvider
 * @property {string} url without a path
 * @property {() => readonly ProviderRequest[]} requests oldest first
 * @property {() => Promise<void>} close
 */

/** @returns {Promise<FakeProvider>} */
export async function startProvider() {
  /** @type {ProviderRequest[]} */
  const requests = [];
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? "/", "http://loopback").pathname;
    const text = await readBody(request);
    if (requests.length >= MOST_REQUESTS) return void response.writeHead(429).end();
    const { status, type, body, results } = answer(request.method, path, text);
    requests.push({ line: `${request.method} ${path} ${status}`, text: text ?? "", results });
    response.writeHead(status, { "content-type": type }).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** @param {string | undefined} method @param {string} path @param {string | undefined} text */
function answer(method, path, text) {
  const format = FORMATS.find((candidate) => candidate.path.test(path));
  if (!format || method !== "POST") return refuse(404, `Nothing at ${method} ${path}.`);
  if (text === undefined) return refuse(413, `The body exceeds the limit of ${LARGEST_BODY} bytes.`);
  try {
    const body = JSON.parse(text);
    if (format !== geminiContent && body.stream !== true)
      return refuse(400, "Only streams are supported; ask for one.");
    const turn = format.readTurn(body);
    const events = format.writeAnswer(chooseAnswer(turn), body);
    return { status: 200, type: "text/event-stream", body: events, results: turn.results };
  } catch (error) {
    return refuse(400, `Can't read the request: ${error}`);
  }
}

/** @param {number} status @param {string} message */
function refuse(status, message) {
  return { status, type: "application/json", body: JSON.stringify({ error: { message } }), results: 0 };
}

/**
 * @param {import("node:http").IncomingMessage} request
 * @returns {Promise<string | undefined>} `undefined` if it is too long
 */
async function readBody(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size <= LARGEST_BODY) parts.push(part);
  }
  return size <= LARGEST_BODY ? Buffer.concat(parts).toString("utf8") : undefined;
}
