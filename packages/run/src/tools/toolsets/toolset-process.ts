/**
 * One skill's toolsets in one process: loaded once, then called. However the process behaves or ends, every call gets
 * one answer. Knows no policy, and starts no second process.
 */
import type { Json } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { type LoadedModule, MAX_LINE_BYTES, TOOLSET_PROTOCOL } from "@metier/sandbox";
import type { ToolInput } from "../tool.ts";
import { connectToolsets, type ToolsetConnection, type ToolsetStart } from "./toolset-connection.ts";

export interface ToolsetTimes {
  /** Until all modules are loaded. */
  readonly loadMs: number;
  /** Of each call. */
  readonly callMs: number;
}

interface ToolsetCall {
  /** Its index among the modules. */
  readonly toolset: number;
  readonly tool: string;
  readonly input: ToolInput;
}

/** A refusal starts in lowercase. */
type LoadOutcome = Result<readonly LoadedModule[], string>;
type CallOutcome = Result<Json, string>;

export interface ToolsetProcess extends Pick<ToolsetConnection, "isOver" | "written"> {
  readonly loaded: Promise<LoadOutcome>;
  call(call: ToolsetCall, signal: AbortSignal): Promise<CallOutcome>;
  /** Stops it once calls in progress have their answers. */
  retire(): void;
  /** Stops it now. */
  end(): Promise<void>;
}

/** How long a tool has after it was told to stop; then its process is stopped. */
const STOP_GRACE_MS = 2000;

export function startToolsets(
  start: ToolsetStart,
  { loadMs, callMs }: ToolsetTimes,
  signal?: AbortSignal,
): ToolsetProcess {
  const underWay: CallsUnderWay = new Map();
  const loading = Promise.withResolvers<LoadOutcome>();
  let lastId = 0;
  let isRetired = false;

  const connection = connectToolsets(start, (answer) => {
    if (answer.type === "loaded") loading.resolve(done(answer.toolsets));
    // A call that already has its answer isn't in progress anymore.
    else if (answer.type === "result") underWay.get(answer.id)?.(done(answer.value));
    else underWay.get(answer.id)?.(refused(answer.message));
  });
  const ended = connection.ended.then((message) => {
    loading.resolve(refused(message));
    for (const finish of [...underWay.values()]) finish(refused(message));
  });
  const loaded = within(loading.promise, loadMs, signal, (why) =>
    connection.end(`the process was stopped while it loaded its modules, because ${why}`),
  );
  const { workDir, dataDir, skillDir = start.world.cwd } = start.world;
  const folders = { workDir, skillDir, ...(dataDir !== undefined && { dataDir }) };
  connection.tell({ type: "load", protocol: TOOLSET_PROTOCOL, modules: start.modules, folders });

  const endIfRetired = (): void => {
    if (isRetired && underWay.size === 0) connection.end("the process was replaced");
  };
  return {
    get isOver() {
      return connection.isOver;
    },
    get written() {
      return connection.written;
    },
    loaded,
    async call(call, callSignal) {
      if (connection.isOver) return refused(await connection.ended);
      const bytes = Buffer.byteLength(JSON.stringify(call.input));
      if (bytes > MAX_LINE_BYTES) {
        return refused(`its input has ${bytes} bytes; the limit is ${MAX_LINE_BYTES}.`);
      }
      const outcome = await ask({ id: ++lastId, ...call }, connection, underWay, callMs, callSignal);
      endIfRetired();
      return outcome;
    },
    retire() {
      isRetired = true;
      endIfRetired();
    },
    end() {
      connection.end("the process was ended with the run");
      return ended;
    },
  };
}

type CallsUnderWay = Map<number, (outcome: CallOutcome) => void>;

/** A call is told to stop; if it doesn't, its process is stopped. */
async function ask(
  call: ToolsetCall & { readonly id: number },
  connection: ToolsetConnection,
  underWay: CallsUnderWay,
  callMs: number,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const { id, tool } = call;
  const answered = Promise.withResolvers<CallOutcome>();
  underWay.set(id, answered.resolve);
  connection.tell({ type: "call", ...call });
  let stopped: string | undefined;
  let grace: NodeJS.Timeout | undefined;
  const outcome = await within(answered.promise, callMs, signal, (why) => {
    stopped = `the call was stopped, because ${why}`;
    connection.tell({ type: "cancel", id });
    const reason = `the process was stopped, because a call of \`${tool}\` did not stop`;
    grace = setTimeout(() => connection.end(reason), STOP_GRACE_MS);
  });
  clearTimeout(grace);
  underWay.delete(id);
  return stopped === undefined ? outcome : refused(`${stopped}.`);
}

/** `stop` is called once if it takes too long or the signal is aborted; the outcome is still awaited. */
async function within<Value>(
  value: Promise<Value>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  stop: (why: string) => void,
): Promise<Value> {
  let isStopped = false;
  const stopOnce = (why: string): void => {
    if (!isStopped) stop(why);
    isStopped = true;
  };
  const cancel = (): void => stopOnce("the run was stopped");
  const timer = setTimeout(() => stopOnce(`it timed out after ${timeoutMs / 1000} s`), timeoutMs);
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted) cancel();
  try {
    return await value;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
  }
}
