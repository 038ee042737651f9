/**
 * The options of each call that runs something. A program may be JavaScript, or spread what it was given: an unknown
 * key is refused before anything happens. The compiler checks each table against its type.
 */
import { UsageError } from "@metier/base/errors";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { kindOf } from "@metier/skills";
import type { Caller } from "../invoke/invocation.ts";
import type { SkillToolsOptions } from "../tools/skill-tools.ts";
import type { BranchOptions, ChatLimits, ChatOptions, SendOptions } from "./chat-options.ts";
import type { StoreOptions } from "./kept-files.ts";
import type { SkillOfferOptions } from "./offer-skills.ts";
import type { SetUpOptions } from "./packages/prepare-environments.ts";
import type { BudgetLimits, RunLimits } from "./run-limits.ts";
import type { RunRequest, ScriptRequest } from "./run-request.ts";
import type { ConversationCall, ConversationToolOptions } from "./use-skill.ts";

const RUN: OptionKeys<RunRequest> = {
  skill: true,
  message: true,
  context: true,
  arguments: true,
  input: true,
  output: true,
  source: true,
  caller: true,
  model: true,
  limits: true,
  write: true,
  workDir: true,
  approve: true,
  askUser: true,
  confirm: true,
  userMessage: true,
  tools: true,
  env: true,
  privateFiles: true,
  record: true,
  signal: true,
  onProgress: true,
  onEvent: true,
};

const SCRIPT: OptionKeys<ScriptRequest> = {
  skill: true,
  script: true,
  args: true,
  stdin: true,
  timeoutMs: true,
  source: true,
  caller: true,
  confirm: true,
  write: true,
  workDir: true,
  env: true,
  privateFiles: true,
  signal: true,
  onEvent: true,
  onProgress: true,
  onOutput: true,
};

const CHAT: OptionKeys<ChatOptions> = {
  caller: true,
  approve: true,
  askUser: true,
  confirm: true,
  tools: true,
  write: true,
  onEvent: true,
  model: true,
  limits: true,
  instructions: true,
  history: true,
  keep: true,
  resume: true,
  from: true,
  signingKey: true,
};

const SEND: OptionKeys<SendOptions> = { signal: true, record: true };
const BRANCH: OptionKeys<BranchOptions> = { turns: true };

const USE_SKILL: OptionKeys<ConversationToolOptions> = {
  caller: true,
  model: true,
  limits: true,
  write: true,
  approve: true,
  askUser: true,
  confirm: true,
  tools: true,
  onEvent: true,
  onProgress: true,
  conversation: true,
  budget: true,
  canRun: true,
};

const OFFER: OptionKeys<SkillOfferOptions> = {
  ...USE_SKILL,
  preload: true,
  listingTokens: true,
  countTokens: true,
};

const OFFER_CALL: OptionKeys<ConversationCall> = { signal: true, userMessage: true };
const SKILL_TOOLS: OptionKeys<SkillToolsOptions> = { conversation: true, budget: true, countTokens: true };
const STORE: OptionKeys<StoreOptions> = { user: true, global: true };
const SET_UP: OptionKeys<SetUpOptions> = { build: true, signal: true, onProgress: true };

const CALLER: OptionKeys<Caller> = {
  userId: true,
  tenantId: true,
  chatId: true,
  chatType: true,
  chatTitle: true,
  provider: true,
  threadId: true,
  messageId: true,
  sourceUsername: true,
  sourceDisplayName: true,
  timezone: true,
  sessionId: true,
  isLocal: true,
};
const LIMITS: OptionKeys<RunLimits> = {
  maxIterations: true,
  timeoutMs: true,
  maxOutputBytes: true,
  maxTokens: true,
  maxCost: true,
};
const CHAT_LIMITS: OptionKeys<ChatLimits> = {
  ...LIMITS,
  maxConversationTokens: true,
  maxConversationCost: true,
};
const BUDGET: OptionKeys<BudgetLimits> = { maxTokens: true, maxCost: true, owner: true };

const REQUESTS = {
  run: RUN,
  start: RUN,
  invoke: RUN,
  activate: RUN,
  prepare: RUN,
  plan: RUN,
  script: SCRIPT,
} as const;

const OPTIONS = {
  chat: CHAT,
  "chat.send": SEND,
  "chat.stream": SEND,
  "chat.compact": SEND,
  "chat.branch": BRANCH,
  useSkillTool: USE_SKILL,
  offerSkills: OFFER,
  "offer.call": OFFER_CALL,
  answer: OFFER_CALL,
  skillTools: SKILL_TOOLS,
  skillLibrary: CALLER,
  store: STORE,
  setUp: SET_UP,
} as const;

/** A request for a skill, which it must name. Throws `UsageError`. */
export function checkRequest(call: keyof typeof REQUESTS, request: unknown): void {
  checkKeys(call, request ?? null, REQUESTS[call]);
  const { skill, ...rest } = request as { readonly skill?: unknown; readonly limits?: unknown };
  // An empty name is refused like any other unknown one: as a value, with the known names.
  if (typeof skill !== "string") {
    const shown = skill === undefined ? "missing" : kindOf(skill);
    throw new UsageError(`\`skill\` of \`${call}\` is ${shown}; it must be a skill's name.`);
  }
  checkNested(call, rest, LIMITS);
}

/** The caller of any call; `call` is the name in messages. Throws `UsageError` with the code `option.unknown`. */
export function checkCaller(call: string, caller: unknown): void {
  checkKeys(call, caller, CALLER);
}

/** Optional options. Throws `UsageError` with the code `option.unknown`. */
export function checkCallOptions(call: keyof typeof OPTIONS, options: unknown): void {
  checkKeys(call, options, OPTIONS[call]);
  if (options === undefined) return;
  checkNested(call, options as object, call === "chat" ? CHAT_LIMITS : LIMITS);
  if (call !== "skillTools") checkKeys(`${call}({ budget })`, (options as Nested).budget, BUDGET);
}

interface Nested {
  readonly caller?: unknown;
  readonly limits?: unknown;
  readonly budget?: unknown;
}

/** Restrictions: a typo there would remove a limit, or make the caller nobody. */
function checkNested(call: string, { caller, limits }: Nested, known: Readonly<Record<string, true>>): void {
  checkCaller(`${call}({ caller })`, caller);
  checkKeys(`${call}({ limits })`, limits, known);
}
