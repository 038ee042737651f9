/**
 * The options of `metier.for`, for one user or tenant. Errors throw immediately: a view with a typo would restrict less
 * than intended, or serve someone else.
 */
import { UsageError } from "@metier/base/errors";
import { isJsonObject } from "@metier/base/json";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { showValue } from "@metier/base/text";
import type { ConfirmMutation } from "@metier/capabilities";
import type { AskApproval, AskUser, Caller, GivenTool, RunLimits, SearchProvider } from "@metier/run";
import type { GivenModels, OwnModels } from "@metier/run/model";
import { kindOf } from "@metier/skills";

/** The most that runs of a view may use, whatever they request; a request can only lower them. */
export interface ViewLimits extends RunLimits {
  /** For everything this view runs in total, including chats, while the program keeps the view. */
  readonly maxTotalTokens: number;
  /** The same in US dollars, or in the currency of the configured prices. */
  readonly maxTotalCost: number;
}

/** Where the user's message came from; skills that are only for some chats are checked against it. */
export type ViewChat = Omit<Caller, "userId" | "tenantId" | "isLocal">;

/**
 * Options of `metier.for`: who the user is, and what is theirs. Only `userId` is required.
 *
 * @example
 * ```ts
 * const options: ViewOptions = {
 *   userId: "ada", tenantId: "acme", cwd: "/srv/files/ada",
 *   env: { API_KEY: "…" }, deny: ["deploy-*"], limits: { maxTotalTokens: 200_000 },
 * };
 * ```
 */
export interface ViewOptions {
  /** The user. Data, chats, accounts and runs are theirs alone. */
  readonly userId: string;
  /** The user's tenant: the same `userId` in two tenants is two users. */
  readonly tenantId?: string | undefined;
  /**
   * The folder their runs see and work on. Default: that of `createMetier`; without either, runs only have their own
   * folders.
   */
  readonly cwd?: string | undefined;
  /** Whether trusted runs may write to `cwd`. Default: no. */
  readonly write?: boolean | undefined;
  /** Values for variables that skills declare; they override the config. All are secret, and no other view has them. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Models by alias; they override those of `createMetier`, for example with the user's own keys. */
  readonly models?: GivenModels | undefined;
  /** Their own model providers, and which of this machine's models they may use. Default: all of the latter. */
  readonly ownModels?: OwnModels | undefined;
  /** Tools for their runs, in addition to those of `createMetier`. */
  readonly tools?: readonly GivenTool[] | undefined;
  /**
   * The only tools their runs may call, among those they may call at all: names, or patterns as in `allowed-tools`. It
   * only removes tools, and never skips an approval. An empty list: none.
   */
  readonly onlyTools?: readonly string[] | undefined;
  /** Adds the tool `web_search` to their runs. Default: that of `createMetier`. */
  readonly search?: SearchProvider | undefined;
  /** Globs over names: the only skills they have, among those that may be used at all. An empty list: none. */
  readonly allow?: readonly string[] | undefined;
  /** Globs over names: skills hidden from them. Overrides `allow`. */
  readonly deny?: readonly string[] | undefined;
  /** The most their runs may use. Default: the config's limits. */
  readonly limits?: Partial<ViewLimits> | undefined;
  /** `all`: yes to every approval. Default: nobody can be asked, so no. */
  readonly approve?: "all" | AskApproval | undefined;
  /** Adds the tool `ask_user` to their runs. */
  readonly askUser?: AskUser | undefined;
  /** Asked before a capability changes something. Default: that of `createMetier`. */
  readonly confirm?: ConfirmMutation | undefined;
  /** Where the user is: the type of the chat, its id, the time zone. */
  readonly chat?: ViewChat | undefined;
}

interface OptionType {
  /** What is allowed, as messages say it. */
  readonly allowed: string;
  accepts(value: unknown): boolean;
}

const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";
/** A control character isn't part of a name, and a NUL ends one in other programs. */
const NAME: OptionType = {
  allowed: "a non-empty string without control characters",
  accepts: (value) => isText(value) && !/[\p{Cc}\p{Surrogate}]/u.test(value),
};
const TEXTS: OptionType = {
  allowed: "a list of strings",
  accepts: (value) => Array.isArray(value) && value.every(isText),
};
const OBJECT: OptionType = { allowed: "an object", accepts: isJsonObject };
const FUNCTION: OptionType = { allowed: "a function", accepts: (value) => typeof value === "function" };

const OPTIONS: Readonly<Record<keyof ViewOptions, OptionType>> = {
  userId: NAME,
  tenantId: NAME,
  cwd: { allowed: "the path of a folder", accepts: isText },
  write: { allowed: "`true` or `false`", accepts: (value) => typeof value === "boolean" },
  env: {
    allowed: "an object of strings by name",
    accepts: (value) => isJsonObject(value) && Object.values(value).every((one) => typeof one === "string"),
  },
  models: OBJECT,
  ownModels: OBJECT,
  tools: { allowed: "a list of tools", accepts: Array.isArray },
  onlyTools: TEXTS,
  search: OBJECT,
  allow: TEXTS,
  deny: TEXTS,
  limits: OBJECT,
  approve: {
    allowed: "`all` or a function",
    accepts: (value) => value === "all" || typeof value === "function",
  },
  askUser: FUNCTION,
  confirm: FUNCTION,
  chat: OBJECT,
};

const LIMITS: OptionKeys<ViewLimits> = {
  maxIterations: true,
  timeoutMs: true,
  maxOutputBytes: true,
  maxTokens: true,
  maxCost: true,
  maxTotalTokens: true,
  maxTotalCost: true,
};

const CHAT: OptionKeys<ViewChat> = {
  chatId: true,
  chatType: true,
  chatTitle: true,
  provider: true,
  threadId: true,
  messageId: true,
  sessionId: true,
  sourceUsername: true,
  sourceDisplayName: true,
  timezone: true,
};

/** Throws `UsageError` for anything unknown, invalid or missing. Reads nothing from disk. */
export function checkView(options: ViewOptions): void {
  checkKeys("metier.for", options, OPTIONS);
  if (options?.userId === undefined) {
    throw new UsageError("`metier.for` needs a user: `userId` is missing.", {
      hint: "Pass the id your program uses for the user: `metier.for({ userId: … })`.",
    });
  }
  for (const [name, value] of Object.entries(options)) {
    const { allowed, accepts } = OPTIONS[name as keyof ViewOptions];
    if (value === undefined || accepts(value)) continue;
    // The values of `env` are secrets: only their names are shown.
    const wrong = name === "env" && isJsonObject(value) ? wrongVariable(value) : undefined;
    const shown = typeof value === "string" ? showValue(value) : kindOf(value);
    throw new UsageError(
      wrong ?? `The option \`${name}\` of \`metier.for\` is ${shown}; it must be ${allowed}.`,
    );
  }
  checkKeys("metier.for({ chat })", options.chat, CHAT);
  checkKeys("metier.for({ limits })", options.limits, LIMITS);
  for (const [name, limit] of Object.entries(options.limits ?? {})) {
    if (limit === undefined || limit > 0) continue;
    throw new UsageError(
      `The limit \`${name}\` of \`metier.for\` is \`${limit}\`; it must be a number above 0.`,
    );
  }
}

function wrongVariable(env: Readonly<Record<string, unknown>>): string {
  const [name = "", value] = Object.entries(env).find(([, one]) => typeof one !== "string") ?? [];
  return `\`env.${name}\` of \`metier.for\` is ${kindOf(value)}; it must be a string.`;
}
