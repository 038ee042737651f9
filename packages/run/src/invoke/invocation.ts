/**
 * The types of a skill request: what can be requested, by whom and in which chats, the outcome of the checks (a
 * prepared invocation or a refusal), and both as told to a model, a person or a program.
 */

import type { Diagnostic } from "@metier/base/diagnostic";
import {
  type InvocationSource,
  type SkillError,
  SkillInvocationError,
  SkillLoadError,
  SkillNotFoundError,
  SkillParseError,
  SkillValidationError,
} from "@metier/base/errors";
import type { Json } from "@metier/base/json";
import { cleanLine, forReader, showNames, showValue } from "@metier/base/text";
import type { CapabilityCaller } from "@metier/capabilities";
import {
  neutralise,
  type Skill,
  type SkillManifest,
  type TrustDecision,
  visibleSkills,
} from "@metier/skills";
import { type Config, skillSettings } from "@metier/skills/config";

/** Where the message came from, for a program with chats: passed on to capability providers. */
type ChatFacts = Pick<
  CapabilityCaller,
  "chatTitle" | "provider" | "threadId" | "messageId" | "sourceUsername" | "sourceDisplayName" | "timezone"
>;

/**
 * The person a run is for, as your program knows them: it decides whose data, chats and accounts the run may use.
 *
 * @example
 * ```ts
 * const caller: Caller = { userId: "ada", tenantId: "acme", chatType: "private" };
 * const result = await metier.run({ skill: "summarize-text", message, caller });
 * ```
 */
export interface Caller extends ChatFacts {
  /** Your program's id for the user; absent: the run belongs to nobody in particular. */
  readonly userId?: string;
  /** The user's tenant, in a program with many customers: the same `userId` in two tenants is two users. */
  readonly tenantId?: string;
  /** The chat the message came from; compared with `allow-chat-ids` in the config. */
  readonly chatId?: string;
  /** Compared in lowercase; if a skill is restricted, an unknown type is denied. */
  readonly chatType?: string;
  /** Your program's session; passed on to capability providers as `sessionKey`. */
  readonly sessionId?: string;
  /** The person at this machine, for the command line: they share skill data with runs that have no user. */
  readonly isLocal?: boolean;
}

/** The parameters of `use_skill`. */
export interface SkillRequest {
  /** The name of the skill. */
  readonly skill: string;
  /** The task, in words. */
  readonly message?: string | undefined;
  /** What the skill should know about the conversation, which it doesn't see. */
  readonly context?: string | undefined;
  /**
   * A line as typed, or a list of single arguments: a list isn't split again, and with it missing arguments are empty,
   * including `$0` for an empty list.
   */
  readonly arguments?: string | readonly string[] | undefined;
  /** A value for the skill's `input-schema`, checked against it. */
  readonly input?: Json | undefined;
}

/** Joins a list into a line that splits into the same arguments: blanks and quotes are quoted. */
export function joinArguments(given: string | readonly string[]): string {
  if (typeof given === "string") return given;
  return given
    .map((word) => (/^[^\s'"\\]+$/.test(word) ? word : `"${word.replace(/["\\]/g, "\\$&")}"`))
    .join(" ");
}

export interface Invocation extends SkillRequest {
  readonly source: InvocationSource;
  readonly caller: Caller;
  /** The skills already running, outermost first, if one starts another. */
  readonly chain?: readonly string[] | undefined;
  /** The most that the caller's own trust allows; absent if the caller isn't a run. */
  readonly callerTrust?: "trusted" | "untrusted" | undefined;
}

/** In the order of the checks. */
export const REFUSAL_REASONS = [
  "not-found",
  "disabled",
  "unavailable",
  "not-invocable",
  "access",
  "blocked",
  "trust",
  "input",
  "tools",
  "environment",
  "capabilities",
  "cycle",
  "depth",
  "unreadable",
  "needs-run",
] as const;
/** Which check refused a request, for comparison: one of `REFUSAL_REASONS`. */
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** One check that failed, and what to do about it. */
export interface RefusalCause {
  /** Which check failed. */
  readonly reason: RefusalReason;
  /** What happened, which value, what is allowed. */
  readonly message: string;
  /** What to do. */
  readonly hint: string;
  /** The values behind the message, by name; the names depend on `reason`. */
  readonly data: Readonly<Record<string, Json>>;
}

/** Why a skill wasn't run: the first failed check, with the others in `also`. */
export interface InvocationRefusal extends RefusalCause {
  /** The requested skill. */
  readonly skill: string;
  /** The other checks that failed. */
  readonly also: readonly RefusalCause[];
}

/** An invocation that passed every check, with the file read again. */
export interface PreparedInvocation {
  /** The skill, as its file is now. */
  readonly skill: Skill;
  /** Who invoked it. */
  readonly source: InvocationSource;
  /** The person it is for; `{}` if the request named nobody. */
  readonly caller: Caller;
  /** The skills already running, outermost first; empty if no run invoked it. */
  readonly chain: readonly string[];
  /** Inline: the text goes back into the caller's conversation. */
  readonly execution: "inline" | "isolated";
  /** The skill's, or lower: chaining never raises it. */
  readonly trust: TrustDecision;
  /** The body with arguments filled in and invisible characters removed. */
  readonly instructions: string;
  /** `sha256:…` of the instructions. */
  readonly digest: string;
  /** The task of the request. */
  readonly message?: string | undefined;
  /** The context of the request. */
  readonly context?: string | undefined;
  /** Checked against `input-schema`, defaults applied. */
  readonly input?: Json | undefined;
  /** Declared variables with a value from the config. */
  readonly env: Readonly<
    Record<
      string,
      {
        /** What the variable holds. */
        readonly value: string;
        /** Whether it is removed from every text that leaves the run. */
        readonly secret: boolean;
      }
    >
  >;
  /** Findings that don't block the skill. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The outcome of all checks before a skill is used: ready, or refused. */
export type PrepareOutcome =
  | { readonly ok: true; readonly prepared: PreparedInvocation }
  | { readonly ok: false; readonly refusal: InvocationRefusal };

/** A refusal in words, for a model or a person: what happened, what to do, and what else would have to change. */
export function refusalText({ also, ...first }: InvocationRefusal): string {
  const others = also.map((cause) => `- ${causeText(cause)}`);
  return [causeText(first), ...(others.length > 0 ? ["Also:", ...others] : [])].join("\n");
}

/** After several lines, such as a program's last output, a hint gets its own line. */
function causeText({ message, hint }: RefusalCause): string {
  return hint === "" ? message : `${message}${message.includes("\n") ? "\n" : " "}${hint}`;
}

/** A refusal as an exception, for callers that can't continue without the skill. */
export function refusalError(refusal: InvocationRefusal, source: InvocationSource): SkillError {
  const { skill, message, hint, reason } = refusal;
  if (reason === "not-found") return new SkillNotFoundError(skill, undefined, { hint, cause: refusal });
  if (reason === "unreadable" && typeof refusal.data.fault === "string") return unreadableError(refusal);
  return new SkillInvocationError(skill, source, message, { hint, cause: refusal });
}

const TENANT = "tenant/";

/**
 * The caller as one string: what is kept for a caller is kept under it. It is unique whatever names users and tenants
 * choose. `undefined`: nobody in particular.
 */
export function ownerOf({
  userId,
  tenantId,
}: { readonly [Key in "userId" | "tenantId"]?: Caller[Key] | undefined } = {}): string | undefined {
  if (userId === undefined) return undefined;
  const isPlain = tenantId === undefined && !userId.startsWith(TENANT);
  return isPlain ? userId : `${TENANT}${encode(tenantId ?? "")}/${encode(userId)}`;
}

/** Whose data it is. The person at this machine shares data with runs that have no user. */
export function dataOwner(caller: Caller = {}): string | undefined {
  return caller.isLocal ? undefined : ownerOf(caller);
}

/** Half a character has no UTF-8 form, and two of them must not become equal. */
function encode(text: string): string {
  return /\p{Surrogate}/u.test(text)
    ? `%u${Buffer.from(text, "utf16le").toString("hex")}`
    : encodeURIComponent(text);
}

/** The file exists, but isn't a skill or can't be read. */
function unreadableError(refusal: InvocationRefusal): SkillError {
  const { skill, hint, data } = refusal;
  const [path, detail] = [String(data.location), String(data.detail)];
  const details = { hint, cause: refusal };
  if (data.fault === "skill.parse") return new SkillParseError(skill, path, detail, details);
  if (data.fault === "skill.validation") return new SkillValidationError(skill, [detail], path, details);
  return new SkillLoadError(skill, path, detail, { hint });
}

/** `undefined`: the user is unknown, so nothing can be done for them. */
export function toCapabilityCaller(caller: Caller = {}): CapabilityCaller | undefined {
  const { userId, tenantId: _, sessionId, isLocal: __, ...chat } = caller;
  const owner = ownerOf(caller);
  if (!userId?.trim() || owner === undefined) return undefined;
  return { ...chat, userId: owner, ...(sessionId !== undefined && { sessionKey: sessionId }) };
}

interface UseSkillSchema {
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, Json>>;
}

/** A longer list of names would cost more than it helps; each call is checked anyway. */
const MOST_NAMES = 200;

/** `undefined` if models may use no skill: then there is no such tool. */
export function useSkillSchema(skills: readonly Skill[]): UseSkillSchema | undefined {
  const names = visibleSkills(skills).map(({ name }) => name);
  if (names.length === 0) return undefined;
  const isListed = names.length <= MOST_NAMES;
  const which = isListed
    ? `Skills: ${names.join(", ")}.`
    : `There are ${names.length} skills; \`find_skills\` finds the one that fits.`;
  const outputs = describeOutputs(skills);
  return {
    description: [
      `Uses a skill: gives you its instructions to follow, or carries them out and gives you the result. ${which}`,
      ...outputs,
    ].join("\n"),
    inputSchema: {
      type: "object",
      properties: {
        skill: {
          type: "string",
          description: isListed ? "The skill's name." : "The skill's name, as `find_skills` gives it.",
          ...(isListed && { enum: names }),
        },
        message: { type: "string", description: "The task, in words." },
        context: {
          type: "string",
          description: "What the skill needs to know of this conversation, in short; it does not see it.",
        },
        arguments: {
          type: "string",
          description: "Arguments as on a command line, where the skill takes such.",
        },
        input: {
          type: "object",
          description: "An object that fits the skill's input schema, where it has one.",
        },
      },
      required: ["skill"],
      additionalProperties: false,
    },
  };
}

/** A longer schema says more than a model needs to choose the skill. */
const MAX_SCHEMA = 1000;
const MAX_SCHEMAS = 4000;

/** What skills with an `output-schema` return: for the model that reads their results. */
function describeOutputs(skills: readonly Skill[]): readonly string[] {
  let used = 0;
  return visibleSkills(skills).flatMap(({ name, manifest: { outputSchema } }) => {
    if (outputSchema === undefined) return [];
    const json = neutralise(cleanLine(JSON.stringify(outputSchema)));
    const isShown = json.length <= MAX_SCHEMA && used + json.length <= MAX_SCHEMAS;
    if (isShown) used += json.length;
    return [isShown ? `\`${name}\` answers with JSON that fits ${json}` : `\`${name}\` answers with JSON.`];
  });
}

/**
 * May it be used in this chat? If a skill is restricted, an unknown chat is denied. Also used for listings: a skill
 * refused here needn't be shown.
 */
export function decideAccess(
  skill: Pick<Skill, "name" | "manifest">,
  caller: Caller,
  config: Config,
): RefusalCause | undefined {
  const types = allowedChatTypes(skill.manifest);
  const type = caller.chatType?.trim().toLowerCase() ?? "";
  if (types !== undefined && !types.includes(type)) return refuseType(skill.name, types, type);
  const ids = skillSettings(config, skill.name).allowChatIds;
  // A program may pass a number where the config has text.
  const id = caller.chatId === undefined ? undefined : String(caller.chatId);
  if (ids.length > 0 && (id === undefined || !ids.includes(id))) return refuseId(skill.name, id);
  return undefined;
}

/** `undefined`: every chat. */
function allowedChatTypes({ chatTypes, sensitive }: SkillManifest): readonly string[] | undefined {
  if (chatTypes.length > 0) return chatTypes.map((type) => type.trim().toLowerCase());
  return sensitive ? ["private"] : undefined;
}

function refuseType(name: string, allowed: readonly string[], type: string): RefusalCause {
  const here = type === "" ? "the type of this chat is unknown" : `this chat is ${showValue(type)}`;
  return {
    reason: "access",
    message: `Skill \`${name}\` is only available in chats of type ${showNames(allowed)}; ${here}.`,
    hint: forReader({
      command: "Use it in such a chat, and name its type with `--chat-type`.",
      program: "Use it in such a chat, and name its type with `caller: { chatType }`.",
    }),
    data: { allowed, chatType: type },
  };
}

/** The ids are the user's business, so whoever asks isn't told them. */
function refuseId(name: string, id: string | undefined): RefusalCause {
  const here = id === undefined ? "a chat without an id" : `the chat ${showValue(id)}`;
  return {
    reason: "access",
    message: `Skill \`${name}\` is not enabled for ${here}.`,
    hint: `Add the chat to \`allow-chat-ids\` under \`[skills.${name}]\` or \`[skills.defaults]\` in your config.`,
    data: { chatId: id ?? "" },
  };
}
