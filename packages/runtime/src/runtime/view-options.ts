/**
 * What a program says of one user or tenant to `metier.for`. Whatever is wrong is thrown at once: a view with a slip in it
 * would restrict less than was meant, or serve somebody else.
 */
import { UsageError } from "@metier/base/errors";
import { isJsonObject } from "@metier/base/json";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { showValue } from "@metier/base/text";
import type { ConfirmMutation } from "@metier/capabilities";
import type { AskApproval, AskUser, Caller, GivenTool, RunLimits, SearchProvider } from "@metier/run";
import type { GivenModels, OwnModels } from "@metier/run/model";
import { kindOf } from "@metier/skills";

/** The most that runs of a view may use, whatever they ask for; each can only be lowered by a request. */
export interface ViewLimits extends RunLimits {
  /** Of everything that is run by this view together, chats included, for as long as the program keeps the view. */
  readonly maxTotalTokens: number;
  /** The same in US dollars, or in the currency of the configured prices. */
  readonly maxTotalCost: number;
}

/** Where the user's message came from: what skills that are only for some chats are held against. */
export type ViewChat = Omit<Caller, "userId" | "tenantId" | "isLocal">;

/**
 * Options of `metier.for`: who the user is, and what is theirs. Only `userId` is needed.
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
  /** Whom everything is done for. Data, chats, accounts and runs are theirs alone. */
  readonly userId: string;
  /** Whose user it is: the same `userId` in two tenants is two users. */
  readonly tenantId?: string | undefined;
  /** What their runs see and work on. Default: that of `createMetier`; with neither, runs have only folders of their own. */
  readonly cwd?: string | undefined;
  /** Whether trusted runs may write to `cwd`. Default: no. */
  readonly write?: boolean | undefined;
  /** Values for variables that skills declare, over those of the config. All are secret, and no other view has them. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Models by alias, over those of `createMetier`: with the user's own keys, for instance. */
  readonly models?: GivenModels | undefined;
  /** Providers of models that are theirs, and what of this machine's models they may use. Default: all of the latter. */
  readonly ownModels?: OwnModels | undefined;
  /** Tools of their runs, beside those of `createMetier`. */
  readonly tools?: readonly GivenTool[] | undefined;
  /**
   * The only tools that their runs may call, of those that they may call at all: names, or patterns as in `allowed-tools`. It
   * takes away, and allows nothing that would be asked for otherwise. An empty list: none.
   */
  readonly onlyTools?: readonly string[] | undefined;
  /** Makes `web_search` a tool of their runs. Default: that of `createMetier`. */
  readonly search?: SearchProvider | undefined;
  /** Globs over names: the only skills there are for them, of those that may be used at all. An empty list: none. */
  readonly allow?: readonly string[] | undefined;
  /** Globs over names: skills that are not there for them. Wins over `allow`. */
  readonly deny?: readonly string[] | undefined;
  /** The most that their runs may use. Default: what the config says. */
  readonly limits?: Partial<ViewLimits> | undefined;
  /** `all`: yes to every question the tool policy would ask. Default: nobody can be asked, so no. */
  readonly approve?: "all" | AskApproval | undefined;
  /** Makes `ask_user` a tool of their runs. */
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
/** A control character is no part of a name, and a NUL ends one in other programs. */
const NAME: OptionType = {
  allowed: "a text that is not empty and has no control characters",
  accepts: (value) => isText(value) && !/[\p{Cc}\p{Surrogate}]/u.test(value),
};
const TEXTS: OptionType = {
  allowed: "a list of texts",
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
    allowed: "an object of texts by name",
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

/** Throws `UsageError` for what is not known, not allowed or missing. Reads nothing from the disk. */
export function checkView(options: ViewOptions): void {
  checkKeys("metier.for", options, OPTIONS);
  if (options?.userId === undefined) {
    throw new UsageError("`metier.for` was not told for whom: `userId` is missing.", {
      hint: "Give the id by which your program knows the user: `metier.for({ userId: … })`.",
    });
  }
  for (const [name, value] of Object.entries(options)) {
    const { allowed, accepts } = OPTIONS[name as keyof ViewOptions];
    if (value === undefined || accepts(value)) continue;
    // The values of `env` are secrets: only their names are told.
    const wrong = name === "env" && isJsonObject(value) ? wrongVariable(value) : undefined;
    const shown = typeof value === "string" ? showValue(value) : kindOf(value);
    throw new UsageError(
      wrong ?? `The option \`${name}\` of \`metier.for\` is ${shown}; allowed is ${allowed}.`,
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
  return `\`env.${name}\` of \`metier.for\` is ${kindOf(value)}; allowed is a text.`;
}
