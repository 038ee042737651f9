/**
 * HTTP requests without a session: answers that still hold are repeated here, everything else goes to the SDK with what
 * was already read. Unauthorized requests never get this far.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { isJsonObject } from "@metier/base/json";
import type { NodeIncomingMessageLike } from "@modelcontextprotocol/node";
import { type AskedAgain, type KeptAnswers, readAsked, writeAnswer } from "./kept-answers.ts";

/** Receives the SDK's answer, if it may be kept. */
export type NoteAnswer = (answer: Response) => Promise<Response>;

/** `answer` calls the SDK. */
export async function answerPost(
  request: IncomingMessage,
  response: ServerResponse,
  answers: KeptAnswers,
  answer: (request: NodeIncomingMessageLike, note?: NoteAnswer) => Promise<void>,
): Promise<void> {
  if (!isShort(request)) return answer(request as NodeIncomingMessageLike);
  const body = await readBody(request);
  const asked = body.fault ? undefined : readAsked(body.bytes.toString());
  const again = giveAgain(request, body);
  if (asked === undefined) return answer(again);
  const key = keyOf(request, asked);
  const result = answers.recall(key);
  if (result === undefined) {
    const follow = answers.follow(asked, key);
    return answer(again, follow && ((given) => noteAnswer(given, follow)));
  }
  const text = writeAnswer(asked, result);
  response.writeHead(200, { [TYPE]: JSON_TYPE, "content-length": Buffer.byteLength(text) }).end(text);
}

const TYPE = "content-type";
const JSON_TYPE = "application/json";
/** The largest body that is inspected. */
const MOST_BYTES = 16 * 1024;

/** A request with a known length, an unread body, and no extra arguments from the program for the SDK. */
function isShort(request: IncomingMessage): boolean {
  const length = Number(request.headers["content-length"] ?? Number.NaN);
  const isUnread = !(request.readableEnded || request.destroyed || "auth" in request);
  return request.method === "POST" && isUnread && length <= MOST_BYTES;
}

interface Body {
  readonly bytes: Buffer;
  /** Why it ended early. */
  readonly fault?: Error;
}

function readBody(request: IncomingMessage): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const end = (fault?: Error): void => resolve({ bytes: Buffer.concat(chunks), ...(fault && { fault }) });
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => end());
    request.on("error", end);
    request.on("close", () => end(new Error("The client has gone.")));
  });
}

/** The request as it arrived, for another reader. */
function giveAgain(request: IncomingMessage, { bytes, fault }: Body): NodeIncomingMessageLike {
  const { method = "POST", url = "/", headers } = request;
  async function* chunks(): AsyncGenerator<Buffer> {
    yield bytes;
    if (fault) throw fault;
  }
  return { method, url, headers, [Symbol.asyncIterator]: chunks };
}

/** Everything the SDK looks at: every header except the length, which varies with the id. */
function keyOf({ rawHeaders }: IncomingMessage, { key }: AskedAgain): string {
  let text = key;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.toLowerCase() !== "content-length") text += `\n${name}:${rawHeaders[at + 1]}`;
  }
  return text;
}

/** Only plain answers are kept: no event streams, and no headers that may matter. */
async function noteAnswer(answer: Response, follow: (result: unknown) => void): Promise<Response> {
  const headers = [...answer.headers];
  const isPlain = headers.every(([name, value]) => name === TYPE && value === JSON_TYPE);
  if (answer.status !== 200 || headers.length !== 1 || !isPlain) return answer;
  const text = await answer.text();
  const message: unknown = JSON.parse(text);
  if (isJsonObject(message)) follow(message.result);
  return new Response(text, { headers: answer.headers });
}
