/**
 * The process of one skill's toolsets as a two-way message channel: started inside the sandbox, stopped if it breaks
 * the protocol; whatever it does, its end is one string. Knows nothing about calls.
 */
import { dirname } from "node:path";
import { PassThrough } from "node:stream";
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import {
  ANSWERS_DESCRIPTOR,
  type CallAnswer,
  type CommandOutcome,
  createLineReader,
  type DescribedTool,
  insideFile,
  type LoadedModule,
  MAX_LINE_BYTES,
  type ModuleExport,
  REQUESTS_DESCRIPTOR,
  type Sandbox,
  TOOLSET_PROTOCOL,
  type ToolsetRequest,
} from "@metier/sandbox";
import type { ToolContext } from "../tool.ts";

export interface ToolsetStart extends Pick<ToolContext, "world" | "env"> {
  readonly sandbox: Sandbox;
  readonly modules: readonly ModuleExport[];
  /** How long the process may live. */
  readonly lifetimeMs: number;
}

export interface ToolsetConnection {
  /** Its messages are no longer read. */
  readonly isOver: boolean;
  /** What it has written so far, in bytes. */
  readonly written: number;
  tell(request: ToolsetRequest): void;
  /**
   * Stops the process and everything it started. The first reason counts; it is a sentence without the final period.
   */
  end(why: string): void;
  /** Why it ended, and its last standard error. */
  readonly ended: Promise<string>;
}

type Answer = CallAnswer | { readonly type: "loaded"; readonly toolsets: readonly LoadedModule[] };

/** The standard streams are moved away first: what a toolset, or something it starts, prints isn't a message. */
const START = `exec "$@" ${ANSWERS_DESCRIPTOR}>&1 1>&2 ${REQUESTS_DESCRIPTOR}<&0 0</dev/null`;
/** Enough for the sandbox's own message if it doesn't start. */
const KEPT_BYTES = 4096;
/** How much of standard error a message shows. */
const TAIL_BYTES = 2000;

export function connectToolsets(start: ToolsetStart, onAnswer: (answer: Answer) => void): ToolsetConnection {
  const requests = new PassThrough();
  const killer = new AbortController();
  let tail = Buffer.alloc(0);
  let written = 0;
  let over: string | undefined;

  const end = (why: string): void => {
    over ??= why;
    killer.abort();
  };
  const takeLine = (line: string): void => {
    const answer = readAnswer(line, start.modules.length);
    if (answer.ok) onAnswer(answer.value);
    else end(`the process was stopped, because ${answer.refusal}`);
  };
  const readAnswers = createLineReader(MAX_LINE_BYTES, takeLine, (bytes) =>
    end(`the process was stopped, because it sent ${bytes} bytes at once; the limit is ${MAX_LINE_BYTES}`),
  );
  const program = insideFile("toolset-host");
  const { sandbox, world, env, lifetimeMs } = start;
  const outcome = sandbox.run({
    argv: ["sh", "-c", START, "sh", "node", "--no-warnings", program],
    world: { ...world, readable: [...world.readable, dirname(program)] },
    cwd: world.skillDir ?? world.cwd,
    env,
    stdin: requests,
    limits: { timeoutMs: lifetimeMs, maxOutputBytes: KEPT_BYTES },
    signal: killer.signal,
    onOutput(stream, chunk) {
      written += chunk.length;
      if (stream === "stderr") tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
      else if (over === undefined) readAnswers(chunk);
    },
  });
  return {
    get isOver() {
      return over !== undefined;
    },
    get written() {
      return written;
    },
    tell: (request) => void requests.write(`${JSON.stringify(request)}\n`),
    end,
    ended: outcome.then(describeEnding, describeFault).then((ending) => {
      over ??= ending;
      const said = wholeLines(tail).trim();
      return said === "" ? `${over}.` : `${over}. Standard error ends with:\n${said}`;
    }),
  };
}

/** Of cut output, drops the line that was cut: half a secret there wouldn't be recognized. */
function wholeLines(tail: Buffer): string {
  return tail.subarray(tail.length < TAIL_BYTES ? 0 : tail.indexOf("\n") + 1 || tail.length).toString();
}

function describeEnding({ ended, exitCode, signal, reason }: CommandOutcome): string {
  switch (ended) {
    case "exited":
      return `the process exited with code ${exitCode}`;
    case "signalled":
      return `the process was killed by ${signal}`;
    case "timeout":
      return "the process was stopped, because it reached the time limit of a run";
    case "cancelled":
      return "the process was stopped";
    case "limit":
      return `the process was stopped at a limit: ${withoutDot(reason)}`;
    case "refused":
      return `the process was not started: ${withoutDot(reason)}`;
  }
}

/** A sandbox returns how a command ended; if it throws, the error is its own. */
function describeFault(error: unknown): string {
  return `the process was not started: ${error instanceof Error ? error.message : String(error)}`;
}

function withoutDot(text = ""): string {
  return text.replace(/\.$/, "");
}

/**
 * Reads what the process sends as untrusted text. `modules`: how many should be loaded. A refusal starts in lowercase.
 */
function readAnswer(line: string, modules: number): Result<Answer, string> {
  const answer = asObject(parse(line));
  const { type, id, value = null, message, protocol, toolsets } = answer;
  if (type === "result" && typeof id === "number") return done({ type, id, value });
  if (type === "error" && typeof id === "number" && typeof message === "string")
    return done({ type, id, message });
  if (type !== "loaded") return refused("it sent something that is not a protocol message");
  if (protocol !== TOOLSET_PROTOCOL) return refused(`it does not speak protocol version ${TOOLSET_PROTOCOL}`);
  const loaded = Array.isArray(toolsets) ? toolsets.map(readModule) : [];
  if (loaded.length !== modules) return refused("it loaded something other than what it was told to");
  return done({ type, toolsets: loaded });
}

function readModule(value: Json): LoadedModule {
  const { fault, name, tools } = asObject(value);
  if (typeof fault === "string") return { fault };
  if (!Array.isArray(tools)) return { fault: "it was not described" };
  return { ...(typeof name === "string" && { name }), tools: tools.map(readTool) };
}

function readTool(value: Json): DescribedTool {
  const { name, description, input, output, runs } = asObject(value);
  return { name: typeof name === "string" ? name : "", description, input, output, runs: runs === true };
}

function parse(line: string): Json {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return null; // The reader sees that it isn't a message.
  }
}

function asObject(value: Json): JsonObject {
  return isJsonObject(value) ? value : {};
}
