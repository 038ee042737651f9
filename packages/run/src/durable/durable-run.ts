/**
 * A durable run as it begins and as it goes on: what was decided at its start holds for all of it. It goes on only with the
 * same content of its skill and the same configuration; otherwise it ends and says why.
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
  /** How long a question waits for an answer; absent: for ever. */
  readonly waitMs?: number | undefined;
  /** Ask before every call that is not read-only, also one that a skill or the config allows. */
  readonly always?: boolean | undefined;
}

/** What makes a run durable. */
export interface DurableRunParts {
  readonly steps: RunSteps;
  readonly parking: Parking;
  readonly asking: Asking;
  /** What runs that it started have used, by the call that started them. */
  readonly spent: Map<string, Spent>;
  /** Lets the calls that change something be made one after the other. */
  readonly turns: Turns;
  /** The snapshot that its work folder begins with. */
  readonly folderBefore?: string | undefined;
  /** Which answer of the model is acted on now. */
  step: number;
  /** Hosts that it has reached, in all processes. */
  readonly reached: Set<string>;
  /** The call that changes something now: what is asked for outside is asked for by it. */
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
  /** Of the configuration. */
  readonly config: string;
  readonly model: string;
  readonly system: string;
}

const START = "start";
/** In place of the digest of its configuration: who moved the run to other machines has said that theirs holds. */
const MOVED = "moved";

/** An entry of a run that goes on elsewhere, with another home and another configuration. */
export function releaseStart({ key, value }: Pick<JournalEntry, "key" | "value">): Json {
  return key === START && isJsonObject(value) ? { ...value, config: MOVED } : value;
}

/**
 * Recorded once; a durable run that goes on is held to it. Gives the system prompt that holds. `skill`: absent for a turn of a
 * conversation.
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
      message: `The run cannot go on: the content of \`${skill?.skill.name}\` changed since the run started (${start.content} is now ${digest}).`,
      hint: "Start a new run; this one is not repeated with other content.",
    });
  }
  if (![config, MOVED].includes(start.config) && start.config !== earlierDigestOf(host.config())) {
    return refused({
      code: "run.changed",
      message: "The run cannot go on: the configuration changed since the run started.",
      hint: "Start a new run, or restore the configuration before the run is resumed.",
    });
  }
  return done(start.system);
}

/** Every file of the skill, its scripts included: what was approved is what is executed. Of one without files, its text. */
function contentOf({ skill, digest }: Pick<PreparedInvocation, "digest" | "skill">): string {
  const content = skill.location === "" ? undefined : identifyContent(skill);
  return content?.ok ? content.value.digest : digest;
}

/**
 * What is allowed decides about the next call alone, and is asked anew for each: a rule that somebody adds while a run waits,
 * as with "always", counts for it and changes nothing of what it did. Where skills are looked for is another place on each machine;
 * what they are is pinned by their content.
 */
function whatHolds(config: Config): Json {
  const tools = Object.entries(config.tools).filter(([, answer]) => answer !== "allow");
  const { paths, trustedPaths, autoDiscover, bundled, ...skills } = config.skills;
  return { ...config, skills, tools: Object.fromEntries(tools) } as unknown as Json;
}

/** By config, which is read anew when it has changed: runs that share one share its digest. */
const digests = new WeakMap<Config, string>();

/** Paths below the home count from there: machines that share runs have homes of their own. */
function digestOf(config: Config, home: string): string {
  const known = digests.get(config);
  if (known !== undefined) return known;
  const text = canonicalText(whatHolds(config)).replaceAll(JSON.stringify(home).slice(1, -1), "~");
  const digest = digestBytes(text);
  digests.set(config, digest);
  return digest;
}

/** As versions before several machines wrote it, for runs that wait since then. */
function earlierDigestOf(config: Config): string {
  const tools = Object.entries(config.tools).filter(([, answer]) => answer !== "allow");
  return digestBytes(canonicalText({ ...config, tools: Object.fromEntries(tools) } as unknown as Json));
}

/** What a call leaves in the run beside its answer. */
export interface MemoryRecord {
  readonly activations: readonly ActivatedText[];
  readonly taintedBy?: string | undefined;
}

export function describeMemory({ conversation, trust }: ConversationMemory): MemoryRecord {
  return { activations: conversation.activations, taintedBy: trust.taintedBy };
}

/** What is in the conversation of a run that goes on; `begins`: what was in it at its start. */
export function recallMemory(
  durable: DurableRunParts | undefined,
  begins: ConversationMemory = createMemory(),
): ConversationMemory {
  const last = durable?.steps.newest("result ") as { readonly memory?: MemoryRecord } | undefined;
  return last?.memory ? createMemory(last.memory.activations, last.memory.taintedBy) : begins;
}

/**
 * Makes the work folder what it was after the last call that was recorded: what came after did not happen. A turn begins
 * with the folder of the turn before it.
 */
export async function restoreFolder(durable: DurableRunParts, folder: string): Promise<void> {
  if (durable.steps.isResumed || folderNow(durable) !== undefined) await undoChanges(durable, folder);
}

/** The same while the run is under way: what a call has done so far did not happen. */
export function undoChanges(durable: DurableRunParts, folder: string): Promise<void> {
  return durable.steps.restoreFolder(folderNow(durable), folder);
}

function folderNow({ steps, folderBefore }: DurableRunParts): string | undefined {
  return newestFolder(steps.all("result ", "stop ")) ?? folderBefore;
}

/** The name of the last snapshot among what was recorded of calls and hooks. */
export function newestFolder(results: readonly Json[]): string | undefined {
  const kept = results as readonly { readonly folder?: string }[];
  return kept.findLast(({ folder }) => folder !== undefined)?.folder;
}
