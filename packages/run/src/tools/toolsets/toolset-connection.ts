/**
 * The process of one skill's toolsets as a line of messages both ways: started inside the sandbox, ended when it breaks
 * the protocol, and whatever it does, its end is one text. Knows nothing of calls.
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
  /** Nothing that it says is heard any more. */
  readonly isOver: boolean;
  /** What it has written so far, in bytes. */
  readonly written: number;
  tell(request: ToolsetRequest): void;
  /** Ends the process, with everything it started. The first reason counts; it is a whole sentence without its dot. */
  end(why: string): void;
  /** Why it ended and what it wrote last to standard error. */
  readonly ended: Promise<string>;
}

type Answer = CallAnswer | { readonly type: "loaded"; readonly toolsets: readonly LoadedModule[] };

/** The standard streams are moved away first: what a toolset prints, or what it starts prints, is no message. */
const START = `exec "$@" ${ANSWERS_DESCRIPTOR}>&1 1>&2 ${REQUESTS_DESCRIPTOR}<&0 0</dev/null`;
/** Enough for what the sandbox itself says when it does not start. */
const KEPT_BYTES = 4096;
/** What a message shows of standard error. */
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
    else end(`the process was ended, because ${answer.refusal}`);
  };
  const readAnswers = createLineReader(MAX_LINE_BYTES, takeLine, (bytes) =>
    end(`the process was ended, because it sent ${bytes} bytes at once; at most ${MAX_LINE_BYTES} are read`),
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

/** Of an output that was cut, nothing of the line it was cut in: half of a secret there would not be known as one. */
function wholeLines(tail: Buffer): string {
  return tail.subarray(tail.length < TAIL_BYTES ? 0 : tail.indexOf("\n") + 1 || tail.length).toString();
}

function describeEnding({ ended, exitCode, signal, reason }: CommandOutcome): string {
  switch (ended) {
    case "exited":
      return `the process ended with exit code ${exitCode}`;
    case "signalled":
      return `the process was ended by ${signal}`;
    case "timeout":
      return "the process was ended, because it had lived as long as a run may take";
    case "cancelled":
      return "the process was ended";
    case "limit":
      return `the process was ended at a limit: ${withoutDot(reason)}`;
    case "refused":
      return `the process was not started: ${withoutDot(reason)}`;
  }
}

/** A sandbox answers with how a command ended; one that throws has a fault of its own. */
function describeFault(error: unknown): string {
  return `the process was not started: ${error instanceof Error ? error.message : String(error)}`;
}

function withoutDot(text = ""): string {
  return text.replace(/\.$/, "");
}

/**
 * What the process says, taken for what it is: text of someone who may have written anything. `modules`: how many were
 * to be loaded. A refusal begins in lower case.
 */
function readAnswer(line: string, modules: number): Result<Answer, string> {
  const answer = asObject(parse(line));
  const { type, id, value = null, message, protocol, toolsets } = answer;
  if (type === "result" && typeof id === "number") return done({ type, id, value });
  if (type === "error" && typeof id === "number" && typeof message === "string")
    return done({ type, id, message });
  if (type !== "loaded") return refused("what it said is no message of the protocol");
  if (protocol !== TOOLSET_PROTOCOL) return refused(`it speaks another version than ${TOOLSET_PROTOCOL}`);
  const loaded = Array.isArray(toolsets) ? toolsets.map(readModule) : [];
  if (loaded.length !== modules) return refused("what it loaded is not what it was to load");
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
    return null; // Whoever reads it sees that it is no message.
  }
}

function asObject(value: Json): JsonObject {
  return isJsonObject(value) ? value : {};
}
