/**
 * What a run is asked for with: by its caller, who holds a handle while it is under way, and by the host, which is given once
 * by the runtime and is the same for all runs.
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
 * What `metier.run` and `metier.start` take: which skill, the task, and what the run may do.
 *
 * @example
 * ```ts
 * const result = await metier.run({ skill: "summarize-text", message: report, caller: { userId: "ada" } });
 * ```
 */
export interface RunRequest<Output extends GivenSchema | undefined = GivenSchema | undefined>
  extends SkillRequest {
  /**
   * A schema for the answer: `object` of the result fits it, with its type. An answer that does not is asked for once
   * more; then the run has failed with `output.invalid`. Default: the skill's `output-schema`.
   */
  readonly output?: Output;
  /** Default: `code`. */
  readonly source?: InvocationSource | undefined;
  /** The person the run is for. Default: nobody in particular. */
  readonly caller?: Caller | undefined;
  /** An alias, `provider/model`, or a model of the AI SDK. */
  readonly model?: string | GivenModel | undefined;
  /** What the run may use, within the policy. Default: the config's limits. */
  readonly limits?: Partial<RunLimits> | undefined;
  /** Whether a trusted run may write to the working directory, where it has one (`cwd`). */
  readonly write?: boolean | undefined;
  /** An existing folder that is nobody else's, in place of a new work folder; it is not removed with the run. */
  readonly workDir?: string | undefined;
  /** `all`: yes to every question the tool policy would ask. Absent: nobody can be asked, so no. */
  readonly approve?: "all" | AskApproval | undefined;
  /** Answers the questions of the `ask_user` tool. Absent: the model has no such tool. */
  readonly askUser?: AskUser | undefined;
  /** Asked before a capability changes something; `approve` does not answer it. Default: that of `createMetier`. */
  readonly confirm?: ConfirmMutation | undefined;
  /** What the user wrote last, word for word, when a model passes the task on. */
  readonly userMessage?: string | undefined;
  /** Tools of the embedding program for this call, and for the skills it starts, beside those of `createMetier`. */
  readonly tools?: readonly GivenTool[] | undefined;
  /** Values for variables the skill declares, beside those of the user's config. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Absolute paths of files with secrets, such as the one `env` was read from: no run sees them. */
  readonly privateFiles?: readonly string[] | undefined;
  /** A file that keeps the events, to be replayed. */
  readonly record?: string | undefined;
  /** Cancels the run, with every process it started. */
  readonly signal?: AbortSignal | undefined;
  /** Hears of what takes long before a run begins, such as the installation of packages: one line each. */
  readonly onProgress?: ((message: string) => unknown) | undefined;
  /** Every event as it happens, of nested runs too. It may be async; a fault of it is a diagnostic, once. */
  readonly onEvent?: ((event: RunEvent) => unknown) | undefined;
}

/** What the user wrote, word for word: what a model or a program says in their name is never taken for it. */
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

/** Events of a run: `for await (const event of handle.events)`, or `handle.events()` to listen from that call on. */
export interface RunEvents extends AsyncIterable<RunEvent> {
  /** Listens from this call; the iterator ends when the run does. */
  (): AsyncIterableIterator<RunEvent>;
}

/**
 * A run in the background: how it stands, what it says, how to end it. `events` is for the server itself; the streams are
 * for its clients.
 *
 * @example
 * ```ts
 * const handle = metier.start({ skill: "summarize-text", message });
 * return handle.toUIMessageStreamResponse(); // in a route handler; a client that leaves ends the run
 * ```
 */
export interface RunHandle<Result extends RunResult = RunResult> extends RunStreams {
  /** The id under which the run is kept and logged. */
  readonly runId: string;
  /** How it stands now: `running`, or how it ended. */
  readonly status: "running" | RunStatus;
  /** Never rejects for what happens in a run. */
  readonly result: Promise<Result>;
  /** Stops the model call and every process of the run. */
  cancel(): void;
  /** All events from now on, of nested runs too, until the run has ended. With prompts and folders: not for clients. */
  readonly events: RunEvents;
}

/** What the work behind a handle is given, and where its result goes. */
export interface RunWork {
  readonly signal: AbortSignal;
  onEvent(event: RunEvent): void;
  follow<Result extends RunResult>(result: Promise<Result>): RunHandle<Result>;
}

/**
 * A run that is under way: what it says while it works, how it stands, how to end it. Clients see the names of `folders` in
 * place of them.
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
      result.catch(() => end("failed")); // A fault of the host reaches whoever waits for the result.
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

/** Listens from the call on, not only from the first event that is asked for. */
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
  /** Values of the caller for declared variables, and what commands in a text must not see. */
  readonly request: Pick<RunRequest, "env" | "privateFiles" | "signal" | "caller">;
  readonly asked?: AskedExecution | undefined;
  readonly conversation?: ConversationTrust | undefined;
  /** Only to see what would happen: no value is fetched and no command of a text is run. */
  readonly isDry?: boolean;
  /** Whether whoever asks can run a skill in isolation. Default: yes. */
  readonly canRun?: boolean;
}

export interface RunHost {
  readonly places: Places;
  /** What runs see and work on beside their own folders. Absent: nothing. */
  readonly cwd?: string | undefined;
  /** Where the program stands: its project's programs are never taken for the user's own. No run sees it for that. */
  readonly base: string;
  /** Values for declared variables that every run here has, whoever asks for it; all are secret. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** What everything that is run here may spend together. */
  readonly budget?: Budget | undefined;
  /** Of this process: model keys are looked for here, and nothing else of it reaches a run. */
  readonly environment: Environment;
  readonly models?: GivenModels;
  /** Providers of whoever runs are for; see `ModelRequest`. */
  readonly ownModels?: OwnModels | undefined;
  /** Others are served; see `ModelRequest`. */
  readonly isService?: boolean;
  /** Tools of the embedding program. */
  readonly tools: readonly GivenTool[];
  /** The only tools that any run here may call, of those that it may call at all; absent: all. */
  readonly onlyTools?: readonly string[] | undefined;
  readonly search?: SearchProvider;
  /** Hears of every event of every run. */
  readonly onEvent?: ((event: RunEvent) => unknown) | undefined;
  readonly logger?: Logger | undefined;
  /** Where its runs are kept. Default: in files, for thirty days. */
  readonly keeping?: RunKeeping | undefined;
  /** Absent: nobody performs any, so a skill that declares some is not run. */
  readonly capabilities?: RunCapabilities;
  config(): Config;
  /** Tool patterns that a person allowed until the run or the conversation ends; whatever it starts shares them. */
  readonly sessionRules?: Set<string>;
  /** Those that were read: keys and values stand in them, so no run reads them. */
  configFiles(): readonly string[];
  /** The skills a model may use. */
  readonly library: SkillLibrary;
  /** What a skill is trusted with as its files are now. */
  trustNow(skill: Skill): Trust;
  /** Those a user may call by name. */
  userSkills(): readonly Skill[];
  agents(): Promise<LoadedAgents>;
  /** What a user may call beside skills. */
  commands(): Promise<LoadedCommands>;
  prepare(invocation: Invocation, options: PrepareOptions): Promise<PrepareOutcome>;
}

export function keepingOf({ keeping, places }: Pick<RunHost, "keeping" | "places">): RunKeeping {
  return keeping ?? openKeeping(places);
}

/** What a model is looked for with. */
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
  /** Loaded when a skill first needs it; the same one every time. */
  broker(): Promise<CapabilityBroker>;
  /** Asked before a change, where the request for a run brings nobody to ask. Absent: nobody can be asked, so no. */
  readonly confirm?: ConfirmMutation;
}

/**
 * The host as one run or one conversation has it: its caller is told only of skills it would not be refused, no tool reads
 * the files of the others to it, and what a person allows lasts as long as it does.
 */
export function hideRestricted(host: RunHost, caller: Caller = {}): RunHost {
  const skills: RunHost["library"]["skills"] = () => {
    const config = host.config();
    return host.library.skills().filter((skill) => decideAccess(skill, caller, config) === undefined);
  };
  return { ...host, library: { ...host.library, skills }, sessionRules: host.sessionRules ?? new Set() };
}

/** Folders of the server, each with the name that clients see in its place. */
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

/** Without the skills that need a run of their own: for those who can only give a skill's text. */
export function hideRuns(library: SkillLibrary, config: Config): SkillLibrary {
  const configured = config.skills.defaultExecution;
  const isInline = ({ manifest }: Skill): boolean => chooseExecution(manifest, { configured }) === "inline";
  return { ...library, skills: () => library.skills().filter(isInline) };
}

/** What the embedding program brings: for all runs, and for this one. */
export function programTools(
  { tools }: Pick<RunHost, "tools">,
  request: Pick<RunRequest, "tools">,
): readonly Tool[] {
  return [...tools, ...(request.tools ?? [])].map(acceptTool);
}

/** What a caller asks of a script of a skill. */
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
  /** A text as it is, a stream as it comes; anything else as JSON. */
  readonly stdin?: Json | AsyncIterable<string | Uint8Array>;
  /** Default: `skills.script-timeout-ms`. Never more than the policy allows. */
  readonly timeoutMs?: number;
  /** What it writes, as it comes, without secrets. */
  readonly onOutput?: (stream: "stdout" | "stderr", text: string) => unknown;
}
