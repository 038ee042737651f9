/** Who sees a capability: the chat it is asked for in, and what the run's skill declares. What is not seen is not used. */
import type { CapabilityCaller, CapabilityDefinition } from "./capability.ts";
import type { CapabilityFault } from "./capability-fault.ts";

type Restricted = Pick<CapabilityDefinition, "id" | "sensitive" | "allowedChatTypes">;

/** In lower case; empty: every chat. */
export function chatTypesOf({ sensitive, allowedChatTypes = [] }: Restricted): readonly string[] {
  if (allowedChatTypes.length > 0) return allowedChatTypes;
  return sensitive ? ["private"] : [];
}

/** Without a run nobody declares anything, and the user may use everything. */
export function isDeclared(id: string, { declared }: CapabilityCaller): boolean {
  return declared === undefined || declared.includes(id);
}

export function isVisible(definition: Restricted, caller: CapabilityCaller): boolean {
  return checkVisible(definition, caller) === undefined;
}

/** Why this caller may not use it. */
export function checkVisible(definition: Restricted, caller: CapabilityCaller): CapabilityFault | undefined {
  const { id } = definition;
  if (!isDeclared(id, caller)) {
    const skill = caller.skill === undefined ? "The run's skill" : `The skill \`${caller.skill}\``;
    return {
      code: "capability_access_denied",
      message: `${skill} does not declare the capability \`${id}\`.`,
      hint: `A skill uses what it names in \`capabilities\`: add \`${id}\` there if it is meant to.`,
    };
  }
  const allowed = chatTypesOf(definition);
  const chatType = caller.chatType?.trim().toLowerCase() ?? "";
  if (allowed.length === 0 || allowed.includes(chatType)) return undefined;
  const chats = allowed.map((type) => `\`${type}\``).join(", ");
  return {
    code: "capability_access_denied",
    message: `The capability \`${id}\` is for chats of type ${chats}; the type of this one is ${chatType === "" ? "not known" : `\`${chatType}\``}.`,
    hint: "Ask for it in such a chat.",
  };
}
