/**
 * The input of a run: from its caller, who gets a handle while it runs, and from the host, which the runtime provides
 * once for all runs.
 */
import { homedir } from "node:os";
import type { Logger } from "@metier/base/diagnostic";
import type { InvocationSource } from "@metier/base/errors";
import type { Json } from "@metier/base/json";
import type { Places } from "@metier/base/places";
import type { Environment } from "@metier/base/programs";
import type { CapabilityBroker, ConfirmMutation } from "@metier/capabilities";
import type { Skill, Trust } from "@metier/skills";
import type { Config, LoadedConfig } from "@metier/skills/config";
import type { LoadedAgents } from "../agents/load-agents.ts";
import type { LoadedCommands } from "../agents/load-commands.ts";
import { createClientLog } from "../events/client-event.ts";
import type { RunEvent, RunStatus } from "../events/run-event.ts";
import { openKeeping, type RunKeeping } from "../events/run-keeping.ts";
import type { InvocationHost } from "../invoke/checks.ts";
import { type AskedExecution, chooseExecution } from "../invoke/choose-execution.ts";
import type { ConversationTrust } from "../invoke/conversation-trust.ts";
import {
  type Caller,
  decideAccess,
  type Invocation,
  joinArguments,
  type PrepareOutcome,
  type SkillRequest,
} from "../invoke/invocation.ts";
import type { GivenModel, GivenModels, ModelRequest, OwnModels } from "../model/model-request.ts";
import type { AskUser } from "../tools/ask-user.ts";
import { acceptTool, type GivenTool } from "../tools/define-tool.ts";
import type { GivenSchema } from "../tools/given-schema.ts";
import type { SkillLibrary } from "../tools/skill-tools.ts";
import type { Tool } from "../tools/tool.ts";
import type { SearchProvider } from "../tools/web/web-tools.ts";
import type { Budget, RunLimits } from "./run-limits.ts";
import type { AskApproval } from "./run-policy.ts";
import type { RunResult } from "./run-result.ts";
import { openStreams, type RunStreams } from "./run-streams.ts";

/**
 * Options of `metier.run` and `metier.start`: which skill, the task, and what the run may do.
 *
 * @example
 * ```ts
 * const result = await metier.run({ skill: "summarize-text", message: report, caller: { userId: "ada" } });
 * ```
 */
export interface RunRequest<Output extends GivenSchema | undefined = GivenSchema | undefined>
  extends SkillRequest {
  /**
   * A schema for the answer: the result's `object` matches it and has its type. An answer that doesn't match is
   * requested once more; after that, the run fails with `output.invalid`. Default: the skill's `output-schema`.
   */
  readonly output?: Output;
  /** Default: `code`. */
  readonly source?: InvocationSource | undefined;
  /** The person the run is for. Default: nobody in particular. */
  readonly caller?: Caller | undefined;
  /** An alias, `provider/model`, or an AI SDK model. */
  readonly model?: string | GivenModel | undefined;
  /** What the run may use, within the policy. Default: the config's limits. */
  readonly limits?: Partial<RunLimits> | undefined;
  /** Whether a trusted run may write to the working directory, if it has one (`cwd`). */
  readonly write?: boolean | undefined;
  /** An existing folder for this run alone, used instead of a new work folder; it isn't removed with the run. */
  readonly workDir?: string | undefined;
  /** `all`: yes to every approval. Absent: nobody can be asked, so no. */
  readonly approve?: "all" | AskApproval | undefined;
  /** Answers the questions of the `ask_user` tool. Absent: the model has no such tool. */
  readonly askUser?: AskUser | undefined;
  /** Asked before a capability changes something; `approve` doesn't apply to it. Default: that of `createMetier`. */
  readonly confirm?: ConfirmMutation | undefined;
  /** The user's last message, verbatim, if a model passes the task on. */
  readonly userMessage?: string | undefined;
  /** The embedding program's tools for this call and the skills it starts, in addition to those of `createMetier`. */
  readonly tools?: readonly GivenTool[] | undefined;
  /** Values for variables the skill declares, in addition to the user's config. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Absolute paths of files with secrets, such as the one `env` was read from: no run sees them. */
  readonly privateFiles?: readonly string[] | undefined;
  /** A file to record the events in, for replay. */
  readonly record?: string | undefined;
  /** Cancels the run and every process it started. */
  readonly signal?: AbortSignal | undefined;
  /** Receives slow steps before a run starts, such as installing packages: one line each. */
  readonly onProgress?: ((message: string) => unknown) | undefined;
  /**
   * Receives every event as it happens, including nested runs. It may be async; an error in it becomes a diagnostic,
   * once.
   */
  readonly onEvent?: ((event: RunEvent) => unknown) | undefined;
}

/** The user's words, verbatim: text from a model or program in their name never counts. */
export function rawMessageOf({
  userMessage,
  message,
  arguments: line,
  source,
}: Pick<RunRequest, "userMessage" | "message" | "arguments" | "source">): string | undefined {
  if (userMessage !== undefined || source !== "user") return userMessage;
  const typed = line === undefined ? undefined : joinArguments(line);
  const parts = [typed, message].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join("\n");
}

/** A run's events: `for await (const event of handle.events)`, or `handle.events()` to listen from that call on. */
export interface RunEvents extends AsyncIterable<RunEvent> {
  /** Listens from this call; the iterator ends when the run does. */
  (): AsyncIterableIterator<RunEvent>;
}

/**
 * A run in the background: its status, its events, and how to cancel it. `events` is for the server itself; the streams
 * are for its clients.
 *
 * @example
 * ```ts
 * const handle = metier.start({ skill: "summarize-text", message });
 * return handle.toUIMessageStreamResponse(); // in a route handler; a client that leaves ends the run
 * ```
 */
export interface RunHandle<Result extends RunResult = RunResult> extends RunStreams {
  /** The id in the kept runs and logs. */
  readonly runId: string;
  /** Its current status: `running`, or how it ended. */
  readonly status: "running" | RunStatus;
  /** Never rejects for what happens in a run. */
  readonly result: Promise<Result>;
  /** Stops the model call and every process of the run. */
  cancel(): void;
  /**
   * All events from now on, including nested runs, until the run has ended. Contains prompts and folders: not for
   * clients.
   */
  readonly events: RunEvents;
}

/** What the work behind a handle gets, and where its result goes. */
export interface RunWork {
  readonly signal: AbortSignal;
  onEvent(event: RunEvent): void;
  follow<Result extends RunResult>(result: Promise<Result>): RunHandle<Result>;
}

/**
 * A run in progress: its events, its status, and how to end it. Clients see the names of `folders` instead of the
 * folders.
 */
export function openHandle(
  runId: string,
  caller: AbortSignal | undefined,
  folders: readonly (readonly [string, string])[] = [],
): RunWork {
  const stop = new AbortController();
  const cancel = (): void => stop.abort(new Error("The run was cancelled."));
  const listeners = new Set<(event: RunEvent | undefined) => void>();
  const log = createClientLog(runId, folders);
  const tell = (event: RunEvent | undefined): void => {
    for (const listener of listeners) listener(event);
  };
  let status: RunHandle["status"] = "running";
  let ended: RunResult | undefined;
  const end = (how: RunStatus): void => {
    status = how;
    const { text = "", object, limit, error, refusal } = ended ?? {};
    log.end({ status: how, text, object, limit, code: error?.code ?? refusal?.reason ?? limit });
    tell(undefined);
  };
  const events = (): AsyncIterableIterator<RunEvent> => follow(listeners, () => status !== "running");
  return {
    signal: caller ? AbortSignal.any([caller, stop.signal]) : stop.signal,
    onEvent(event) {
      log.take(event);
      tell(event);
    },
    follow(work) {
      const result = work.then((value) => {
        ended = value;
        end(value.status);
        return value;
      });
      result.catch(() => end("failed")); // A host error reaches whoever waits for the result.
      const streams = openStreams({ log, result: () => ended, cancel });
      return {
        runId,
        get status() {
          return status;
        },
        result,
        cancel,
        events: Object.assign(events, { [Symbol.asyncIterator]: events }),
        get textStream() {
          return streams.textStream;
        },
        clientEvents: streams.clientEvents,
        toResponse: streams.toResponse,
        toUIMessageStream: streams.toUIMessageStream,
        toUIMessageStreamResponse: streams.toUIMessageStreamResponse,
      };
    },
  };
}

/** Listens from the call on, not only from the first requested event. */
function follow(
  listeners: Set<(event: RunEvent | undefined) => void>,
  hasEnded: () => boolean,
): AsyncIterableIterator<RunEvent> {
  const waiting: (RunEvent | undefined)[] = hasEnded() ? [undefined] : [];
  let wake: () => void = () => undefined;
  const listener = (event: RunEvent | undefined): void => {
    waiting.push(event);
    wake();
  };
  listeners.add(listener);
  async function* read(): AsyncIterableIterator<RunEvent> {
    try {
      while (true) {
        while (waiting.length > 0) {
          const event = waiting.shift();
          if (event === undefined) return;
          yield event;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      listeners.delete(listener);
    }
  }
  return read();
}

export interface PrepareOptions {
  readonly tools: NonNullable<InvocationHost["tools"]>;
  /** The caller's values for declared variables, and what commands in a text must not see. */
  readonly request: Pick<RunRequest, "env" | "privateFiles" | "signal" | "caller">;
  readonly asked?: AskedExecution | undefined;
  readonly conversation?: ConversationTrust | undefined;
  /** Only a preview: no value is fetched and no command in a text runs. */
  readonly isDry?: boolean;
  /** Whether the caller can run a skill in isolation. Default: yes. */
  readonly canRun?: boolean;
}

export interface RunHost {
  readonly places: Places;
  /** The folder runs see and work on besides their own. Absent: none. */
  readonly cwd?: string | undefined;
  /**
   * The program's folder: programs in its project are never used as the user's own. Runs don't see it because of this.
   */
  readonly base: string;
  /** Values for declared variables that every run here has, for any caller; all are secret. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** What everything run here may spend together. */
  readonly budget?: Budget | undefined;
  /** Of this process: model keys are read from it, and nothing else of it reaches a run. */
  readonly environment: Environment;
  readonly models?: GivenModels;
  /** The providers of the person runs are for; see `ModelRequest`. */
  readonly ownModels?: OwnModels | undefined;
  /** Other people are served; see `ModelRequest`. */
  readonly isService?: boolean;
  /** Tools of the embedding program. */
  readonly tools: readonly GivenTool[];
  /** The only tools that runs here may call, among those they may call at all; absent: all. */
  readonly onlyTools?: readonly string[] | undefined;
  readonly search?: SearchProvider;
  /** Receives every event of every run. */
  readonly onEvent?: ((event: RunEvent) => unknown) | undefined;
  readonly logger?: Logger | undefined;
  /** Where its runs are kept. Default: in files, for thirty days. */
  readonly keeping?: RunKeeping | undefined;
  /** Absent: nobody performs any, so a skill that declares some isn't run. */
  readonly capabilities?: RunCapabilities;
  config(): Config;
  /** Tool patterns that a person allowed until the run or conversation ends; shared with everything it starts. */
  readonly sessionRules?: Set<string>;
  /** The files that were read: they contain keys and values, so no run reads them. */
  configFiles(): readonly string[];
  /** The skills a model may use. */
  readonly library: SkillLibrary;
  /** A skill's trust for its current files. */
  trustNow(skill: Skill): Trust;
  /** The skills a user may call by name. */
  userSkills(): readonly Skill[];
  agents(): Promise<LoadedAgents>;
  /** What a user may call besides skills. */
  commands(): Promise<LoadedCommands>;
  prepare(invocation: Invocation, options: PrepareOptions): Promise<PrepareOutcome>;
}

export function keepingOf({ keeping, places }: Pick<RunHost, "keeping" | "places">): RunKeeping {
  return keeping ?? openKeeping(places);
}

/** The inputs for finding a model. */
export function modelPlace({
  environment,
  places,
  base,
  isService,
  ownModels: own,
}: Pick<RunHost, "environment" | "places" | "base" | "isService" | "ownModels">): Pick<
  ModelRequest,
  "environment" | "home" | "cwd" | "isService" | "own"
> {
  return { environment, home: places.home, cwd: base, isService, own };
}

const FILE_LAYERS: ReadonlySet<string> = new Set(["preset", "user", "project", "policy"]);

/** The config files that were read. */
export function configFilesOf({ layers }: Pick<LoadedConfig, "layers">): readonly string[] {
  return layers
    .filter(({ layer, status }) => FILE_LAYERS.has(layer) && status !== "absent")
    .map(({ where }) => where);
}

export interface RunCapabilities {
  /** Loaded when a skill first needs it; always the same one. */
  broker(): Promise<CapabilityBroker>;
  /** Asked before a change, if the request has nobody to ask. Absent: nobody can be asked, so no. */
  readonly confirm?: ConfirmMutation;
}

/**
 * The host for one run or conversation: its caller only learns of skills that wouldn't be refused, no tool reads the
 * files of others to it, and a person's approvals last as long as it does.
 */
export function hideRestricted(host: RunHost, caller: Caller = {}): RunHost {
  const skills: RunHost["library"]["skills"] = () => {
    const config = host.config();
    return host.library.skills().filter((skill) => decideAccess(skill, caller, config) === undefined);
  };
  return { ...host, library: { ...host.library, skills }, sessionRules: host.sessionRules ?? new Set() };
}

/** The server's folders, each with the name that clients see instead. */
export function foldersOf({
  places,
  cwd,
  base,
}: Pick<RunHost, "places" | "cwd" | "base">): readonly (readonly [string, string])[] {
  return [
    ...(cwd === undefined ? [] : [[cwd, "."] as const]),
    [base, "."],
    [process.cwd(), "."],
    [places.home, "~"],
    [homedir(), "~"],
  ];
}

/** Without skills that need an isolated run: for callers that can only give a skill's text. */
export function hideRuns(library: SkillLibrary, config: Config): SkillLibrary {
  const configured = config.skills.defaultExecution;
  const isInline = ({ manifest }: Skill): boolean => chooseExecution(manifest, { configured }) === "inline";
  return { ...library, skills: () => library.skills().filter(isInline) };
}

/** What the embedding program provides: for all runs, and for this one. */
export function programTools(
  { tools }: Pick<RunHost, "tools">,
  request: Pick<RunRequest, "tools">,
): readonly Tool[] {
  return [...tools, ...(request.tools ?? [])].map(acceptTool);
}

/** The request to run a skill's script. */
export interface ScriptRequest
  extends Pick<
    RunRequest,
    | "skill"
    | "source"
    | "caller"
    | "confirm"
    | "write"
    | "workDir"
    | "env"
    | "privateFiles"
    | "signal"
    | "onEvent"
    | "onProgress"
  > {
  /** Path in the skill's folder. */
  readonly script: string;
  /** Its arguments, passed as they are, without a shell. Default: none. */
  readonly args?: readonly string[];
  /** A string is sent unchanged, a stream as it arrives; anything else as JSON. */
  readonly stdin?: Json | AsyncIterable<string | Uint8Array>;
  /** Default: `skills.script-timeout-ms`. Never more than the policy allows. */
  readonly timeoutMs?: number;
  /** Receives its output as it arrives, without secrets. */
  readonly onOutput?: (stream: "stdout" | "stderr", text: string) => unknown;
}
