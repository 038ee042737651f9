/** May it be used in this chat? Where a skill is restricted, a chat nobody can tell is denied. */
import type { Config } from "../../config/config.ts";
import { skillSettings } from "../../config/skill-settings.ts";
import type { SkillManifest } from "../../skill/manifest.ts";
import type { Skill } from "../../skill/skill.ts";
import { showNames, showValue } from "../../validate/report.ts";
import type { Caller, RefusalCause } from "../invocation.ts";
import type { Check } from "./check.ts";

export const checkAccess: Check = ({ skill, invocation: { caller }, loaded }) =>
  decideAccess(skill, caller, loaded.config);

/** Also for those who only list skills: nothing that is refused here needs to be shown. */
export function decideAccess(
  skill: Pick<Skill, "name" | "manifest">,
  caller: Caller,
  config: Config,
): RefusalCause | undefined {
  const types = allowedChatTypes(skill.manifest);
  const type = caller.chatType?.trim().toLowerCase() ?? "";
  if (types !== undefined && !types.includes(type)) return refuseType(skill.name, types, type);
  const ids = skillSettings(config, skill.name).allowChatIds;
  // A program may pass a number for what config writes as text.
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
  const here = type === "" ? "the type of this chat is not known" : `this chat is ${showValue(type)}`;
  return {
    reason: "access",
    message: `Skill \`${name}\` is only available in chats of type ${showNames(allowed)}; ${here}.`,
    hint: "Use it in such a chat. A program says which one it is with `chatType`, the command line with `--chat-type`.",
    data: { allowed, chatType: type },
  };
}

/** The ids themselves are the user's business; they are not told to whoever asks. */
function refuseId(name: string, id: string | undefined): RefusalCause {
  const here = id === undefined ? "a chat without an id" : `the chat ${showValue(id)}`;
  return {
    reason: "access",
    message: `Skill \`${name}\` is not enabled for ${here}.`,
    hint: `Add the chat to \`allow-chat-ids\` under \`[skills.${name}]\` or \`[skills.defaults]\` in your config.`,
    data: { chatId: id ?? "" },
  };
}
