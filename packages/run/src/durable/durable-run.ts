/**
 * How a durable run starts and continues: what was decided at its start applies to all of it. It only continues with
 * the same skill content and configuration; otherwise it ends and says why.
 */
import { digestBytes } from "@metier/base/digest";
import { canonicalText, isJsonObject, type Json } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { createTurns, type Turns } from "@metier/base/turns";
import type { JournalEntry } from "@metier/durable";
import type { Redactor } from "@metier/sandbox/secrets";
import type { ActivatedText } from "@metier/skills";
import type { Config } from "@metier/skills/config";
import { identifyContent } from "@metier/skills/trust";
import { type ConversationMemory, createMemory } from "../invoke/conversation-trust.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import type { RunHost } from "../run/run-request.ts";
import type { StartFault } from "../run/run-result.ts";
import type { ActingCall } from "./acting-call.ts";
import type { Spent } from "./journal-model.ts";
import { createParking, type Parking } from "./parking.ts";
import type { RunSteps } from "./run-steps.ts";

/** How a durable run asks people. */
export interface Asking {
  /** How long a question waits for an answer; absent: forever. */
  readonly waitMs?: number | undefined;
  /** Ask before every call that isn't read-only, even if a skill or the config allows it. */
  readonly always?: boolean | undefined;
}

/** What makes a run durable. */
export interface DurableRunParts {
  readonly steps: RunSteps;
  readonly parking: Parking;
  readonly asking: Asking;
  /** What runs it started have used, by the call that started them. */
  readonly spent: Map<string, Spent>;
  /** Makes calls that change something run one after another. */
  readonly turns: Turns;
  /** The snapshot its work folder starts with. */
  readonly folderBefore?: string | undefined;
  /** The number of the model's answer that is being acted on. */
  step: number;
  /** Hosts it has reached, in all processes. */
  readonly reached: Set<string>;
  /** The call that is changing something now: outside requests come from it. */
  acting?: ActingCall | undefined;
}

export function makeDurable(steps: RunSteps, asking: Asking, folderBefore?: string): DurableRunParts {
  return {
    steps,
    asking,
    folderBefore,
    parking: createParking(),
    spent: new Map(),
    turns: createTurns(),
    reached: new Set(steps.all("reached ").map(String)),
    step: 0,
  };
}

interface StartRecord {
  /** The content identity of its skill. */
  readonly content: string;
  /** Digest of the configuration. */
  readonly config: string;
  readonly model: string;
  readonly system: string;
}

const START = "start";
/** Replaces the digest of its configuration: whoever moved the run to other machines confirmed theirs. */
const MOVED = "moved";

/** An entry of a run that continues elsewhere, with another home and configuration. */
export function releaseStart({ key, value }: Pick<JournalEntry, "key" | "value">): Json {
  return key === START && isJsonObject(value) ? { ...value, config: MOVED } : value;
}

/**
 * Recorded once; a durable run that continues is held to it. Returns the system prompt that applies. `skill`: absent
 * for a conversation turn.
 */
export async function holdToStart(
  prompt: string,
  {
    durable,
    host,
  }: { readonly durable?: DurableRunParts | undefined; readonly host: Pick<RunHost, "config" | "places"> },
  {
    model,
    redactor,
  }: { readonly model: { readonly id: string }; readonly redactor: Pick<Redactor, "redact"> },
  skill?: Pick<PreparedInvocation, "digest" | "skill">,
): Promise<Result<string, StartFault>> {
  if (durable === undefined) return done(prompt);
  const { steps } = durable;
  const config = digestOf(host.config(), host.places.home);
  const digest = skill ? contentOf(skill) : "";
  const start = steps.find(START) as unknown as StartRecord | undefined;
  if (start === undefined) {
    const record: StartRecord = { content: digest, config, model: model.id, system: redactor.redact(prompt) };
    steps.note(START, { ...record });
    return done(record.system);
  }
  if (start.content !== digest) {
    return refused({
      code: "run.changed",
      message: `The run cannot continue: the content of \`${skill?.skill.name}\` changed since it started (${start.content} is now ${digest}).`,
      hint: "Start a new run; this one cannot use the new content.",
    });
  }
  if (![config, MOVED].includes(start.config) && start.config !== earlierDigestOf(host.config())) {
    return refused({
      code: "run.changed",
      message: "The run cannot continue: the configuration changed since it started.",
      hint: "Start a new run, or restore the configuration before you resume this one.",
    });
  }
  return done(start.system);
}

/** Every file of the skill, including scripts: what was approved is what is executed. Without files, its text. */
function contentOf({ skill, digest }: Pick<PreparedInvocation, "digest" | "skill">): string {
  const content = skill.location === "" ? undefined : identifyContent(skill);
  return content?.ok ? content.value.digest : digest;
}

/**
 * The tool policy only affects the next call, and is checked for each: a rule added while a run waits, as with
 * "always", applies to it and changes nothing it did. Where skills are searched differs by machine; what they are is
 * pinned by their content.
 */
function whatHolds(config: Config): Json {
  const tools = Object.entries(config.tools).filter(([, answer]) => answer !== "allow");
  const { paths, trustedPaths, autoDiscover, bundled, ...skills } = config.skills;
  return { ...config, skills, tools: Object.fromEntries(tools) } as unknown as Json;
}

/** By config, which is a new object when it changes: runs with the same one share its digest. */
const digests = new WeakMap<Config, string>();

/** Paths below the home are relative to it: machines that share runs have different homes. */
function digestOf(config: Config, home: string): string {
  const known = digests.get(config);
  if (known !== undefined) return known;
  const text = canonicalText(whatHolds(config)).replaceAll(JSON.stringify(home).slice(1, -1), "~");
  const digest = digestBytes(text);
  digests.set(config, digest);
  return digest;
}

/** As versions before multi-machine support computed it, for runs that have waited since then. */
function earlierDigestOf(config: Config): string {
  const tools = Object.entries(config.tools).filter(([, answer]) => answer !== "allow");
  return digestBytes(canonicalText({ ...config, tools: Object.fromEntries(tools) } as unknown as Json));
}

/** What a call leaves in the run besides its result. */
export interface MemoryRecord {
  readonly activations: readonly ActivatedText[];
  readonly taintedBy?: string | undefined;
}

export function describeMemory({ conversation, trust }: ConversationMemory): MemoryRecord {
  return { activations: conversation.activations, taintedBy: trust.taintedBy };
}

/** What is in the conversation of a run that continues; `begins`: what was in it at the start. */
export function recallMemory(
  durable: DurableRunParts | undefined,
  begins: ConversationMemory = createMemory(),
): ConversationMemory {
  const last = durable?.steps.newest("result ") as { readonly memory?: MemoryRecord } | undefined;
  return last?.memory ? createMemory(last.memory.activations, last.memory.taintedBy) : begins;
}

/**
 * Restores the work folder to its state after the last recorded call: what came later didn't happen. A turn starts with
 * the folder of the previous turn.
 */
export async function restoreFolder(durable: DurableRunParts, folder: string): Promise<void> {
  if (durable.steps.isResumed || folderNow(durable) !== undefined) await undoChanges(durable, folder);
}

/** The same while the run is in progress: what a call has done so far didn't happen. */
export function undoChanges(durable: DurableRunParts, folder: string): Promise<void> {
  return durable.steps.restoreFolder(folderNow(durable), folder);
}

function folderNow({ steps, folderBefore }: DurableRunParts): string | undefined {
  return newestFolder(steps.all("result ", "stop ")) ?? folderBefore;
}

/** The name of the last snapshot in the recorded calls and hooks. */
export function newestFolder(results: readonly Json[]): string | undefined {
  const kept = results as readonly { readonly folder?: string }[];
  return kept.findLast(({ folder }) => folder !== undefined)?.folder;
}
