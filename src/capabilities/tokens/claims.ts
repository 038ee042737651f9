/** The claims of a token and the caller that it speaks for, each made from the other. Texts only; blank ones are left out. */
import type { CapabilityCaller } from "../capability.ts";

export type Claims = Readonly<Record<string, unknown>>;

/** What every token says besides `sub`. */
const CHAT_CLAIMS = {
  chat_id: "chatId",
  chat_type: "chatType",
  chat_title: "chatTitle",
  provider: "provider",
  session_key: "sessionKey",
  thread_id: "threadId",
  source_username: "sourceUsername",
  source_display_name: "sourceDisplayName",
  message_id: "messageId",
  current_user_message: "currentUserMessage",
  timezone: "timezone",
} as const satisfies Record<string, keyof CapabilityCaller>;

/** What only the broker's own tokens say: a bridge learns nothing of the run. */
const RUN_CLAIMS = { run_id: "runId", skill: "skill" } as const satisfies Record<
  string,
  keyof CapabilityCaller
>;

/** A token travels in a variable, which systems bound; so long a message completes no sign-in anyway. */
const MAX_MESSAGE = 16_384;

/** `sub` and the chat. Throws for a caller without a user, for whom nothing can be done. */
export function chatClaims(caller: CapabilityCaller): Record<string, string> {
  if (isBlank(caller.userId)) throw new TypeError("A token needs the id of a user, and the caller has none.");
  const { current_user_message: message = "", ...claims } = textClaims(caller, CHAT_CLAIMS);
  const isCarried = message !== "" && message.length <= MAX_MESSAGE;
  return { sub: caller.userId, ...claims, ...(isCarried && { current_user_message: message }) };
}

/** The run and what its skill declares. */
export function runClaims(caller: CapabilityCaller): Record<string, string | readonly string[]> {
  return {
    ...textClaims(caller, RUN_CLAIMS),
    ...(caller.declared !== undefined && { capabilities: caller.declared }),
  };
}

/**
 * `undefined`: the claims name no user. In a run, no claim about capabilities means none of them: only who is in no run
 * may use all.
 */
export function toCaller(claims: Claims): CapabilityCaller | undefined {
  const { sub, capabilities } = claims;
  if (typeof sub !== "string" || isBlank(sub)) return undefined;
  const texts = Object.fromEntries(
    Object.entries({ ...CHAT_CLAIMS, ...RUN_CLAIMS }).flatMap(([claim, field]) => {
      const value = claims[claim];
      return typeof value === "string" && !isBlank(value) ? [[field, value]] : [];
    }),
  ) as Omit<CapabilityCaller, "userId" | "declared">;
  const declared = Array.isArray(capabilities) ? capabilities.filter((id) => typeof id === "string") : [];
  const isRestricted = capabilities !== undefined || texts.runId !== undefined;
  return { userId: sub, ...texts, ...(isRestricted && { declared }) };
}

function textClaims(
  caller: CapabilityCaller,
  fields: Readonly<Record<string, keyof CapabilityCaller>>,
): Record<string, string> {
  const found = Object.entries(fields).map(([claim, field]) => [claim, caller[field]] as const);
  return Object.fromEntries(
    found.filter((entry): entry is [string, string] => typeof entry[1] === "string" && !isBlank(entry[1])),
  );
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}
