/**
 * A client's streams, one message per line: answers that still hold are repeated here, everything else goes to the
 * SDK's transport unchanged.
 */
import { Readable, type Writable } from "node:stream";
import { dropOldest } from "@metier/base/turns";
import { isJSONRPCResultResponse, type JSONRPCMessage } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { type KeptAnswers, readAsked, writeAnswer } from "./kept-answers.ts";

const LINE_END = 10;
/** The longest line that is inspected; the SDK limits the rest. */
const MOST_BYTES = 16 * 1024;
/** Characters. */
const WRITTEN_AT_ONCE = 16 * 1024;
/** Requests without an answer yet; a client may withdraw them. */
const MOST_WAITING = 1000;

export function openLines(input: Readable, output: Writable, answers: KeptAnswers): StdioServerTransport {
  const rest = new Readable({ read: () => undefined });
  const transport = new StdioServerTransport(rest, output);
  const waiting = new Map<string, ((result: unknown) => void) | undefined>();
  /** The answer, or nothing for a line to pass on. */
  const answerLine = (line: Buffer): string | undefined => {
    const asked = line.length <= MOST_BYTES ? readAsked(line.toString()) : undefined;
    if (asked === undefined) return undefined;
    const result = answers.recall(asked.key);
    if (result !== undefined) return `${writeAnswer(asked, result)}\n`;
    // If two requests have the same id, nobody knows which one an answer is for.
    waiting.set(asked.id, waiting.has(asked.id) ? undefined : answers.follow(asked));
    dropOldest(waiting, MOST_WAITING);
    return undefined;
  };
  const onData = splitLines(
    answerLine,
    (text) => output.write(text),
    (bytes) => rest.push(bytes),
  );
  const onEnd = (): unknown => rest.push(null);
  const onError = (error: Error): unknown => rest.destroy(error);
  input.on("data", onData).on("end", onEnd).on("close", onEnd).on("error", onError);
  const { send, close } = transport;
  transport.send = (message: JSONRPCMessage) => {
    if ("id" in message && !("method" in message)) noteAnswer(message, waiting);
    return send.call(transport, message);
  };
  transport.close = () => {
    input.off("data", onData).off("end", onEnd).off("close", onEnd).off("error", onError);
    if (input.listenerCount("data") === 0) input.pause();
    return close.call(transport);
  };
  return transport;
}

function noteAnswer(
  message: JSONRPCMessage,
  waiting: Map<string, ((result: unknown) => void) | undefined>,
): void {
  const id = "id" in message ? JSON.stringify(message.id) : "";
  const note = waiting.get(id);
  waiting.delete(id);
  if (isJSONRPCResultResponse(message)) note?.(message.result);
}

/**
 * Short answers to lines that arrived together are written together; a client reads long ones while the next line is
 * handled.
 */
function splitLines(
  answerLine: (line: Buffer) => string | undefined,
  write: (text: string) => unknown,
  passOn: (bytes: Buffer) => unknown,
): (chunk: Buffer | string) => void {
  let begun: Buffer | undefined;
  let isPassing = false;
  return (chunk) => {
    let bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    if (begun) bytes = Buffer.concat([begun, bytes]);
    begun = undefined;
    let answered = "";
    let start = 0;
    for (let end = bytes.indexOf(LINE_END); end >= 0; end = bytes.indexOf(LINE_END, start)) {
      const line = bytes.subarray(start, end + 1);
      const answer = isPassing ? undefined : answerLine(line);
      if (answer === undefined) passOn(line);
      else answered += answer;
      if (answered.length >= WRITTEN_AT_ONCE) {
        write(answered);
        answered = "";
      }
      isPassing = false;
      start = end + 1;
    }
    if (answered !== "") write(answered);
    if (start === bytes.length) return;
    const left = bytes.subarray(start);
    if (isPassing || left.length > MOST_BYTES) {
      isPassing = true;
      passOn(left);
    } else begun = left;
  };
}
