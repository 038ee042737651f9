/**
 * A durable run as it begins and as it goes on: what was decided at its start holds for all of it. It goes on only with the
 * same content of its skill and the same configuration; otherwise it ends and says why.
 */
import { digestBytes } from "@metier/base/digest";
import { canonicalText, type Json } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { createTurns, type Turns } from "@metier/base/turns";
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

/**
 * Recorded once; a durable run that goes on is held to it. Gives the system prompt that holds. `skill`: absent for a turn of a
 * conversation.
 */
export async function holdToStart(
  prompt: string,
  {
    durable,
    host,
  }: { readonly durable?: DurableRunParts | undefined; readonly host: Pick<RunHost, "config"> },
  {
    model,
    redactor,
  }: { readonly model: { readonly id: string }; readonly redactor: Pick<Redactor, "redact"> },
  skill?: Pick<PreparedInvocation, "digest" | "skill">,
): Promise<Result<string, StartFault>> {
  if (durable === undefined) return done(prompt);
  const { steps } = durable;
  const config = digestOf(host.config());
  const digest = skill ? contentOf(skill) : "";
  const start = steps.find(START) as unknown as StartRecord | undefined;
  if (start === undefined) {
    const record: StartRecord = { content: digest, config, model: model.id, system: redactor.redact(prompt) };
    await steps.record(START, { ...record });
    return done(record.system);
  }
  if (start.content !== digest) {
    return refused({
      code: "run.changed",
      message: `The run cannot go on: the content of \`${skill?.skill.name}\` changed since the run started (${start.content} is now ${digest}).`,
      hint: "Start a new run; this one is not repeated with other content.",
    });
  }
  if (start.config !== config) {
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
 * as with "always", counts for it and changes nothing of what it did.
 */
function withoutAllowed(config: Config): Config {
  const tools = Object.entries(config.tools).filter(([, answer]) => answer !== "allow");
  return { ...config, tools: Object.fromEntries(tools) };
}

/** By config, which is read anew when it has changed: runs that share one share its digest. */
const digests = new WeakMap<Config, string>();

function digestOf(config: Config): string {
  const digest = digests.get(config) ?? digestBytes(canonicalText(withoutAllowed(config)));
  digests.set(config, digest);
  return digest;
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
