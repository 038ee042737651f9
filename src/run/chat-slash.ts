/** What a user may call by `/name` in a chat: skills and custom commands, and the answer to a name that is neither. */
import type { CustomCommand } from "../agents/load-commands.ts";
import { neutralise } from "../disclose/wrap-instructions.ts";
import { nearestNames } from "../foundation/nearest-names.ts";
import { readArguments, substituteArguments } from "../invoke/arguments.ts";
import { decideAccess } from "../invoke/checks/access.ts";
import type { Caller, Refusal } from "../invoke/invocation.ts";
import type { ToolLists } from "../tools/policy-lists.ts";
import type { RunHost } from "./run-host.ts";

export interface Slash {
  readonly name: string;
  /** What stands behind it, as it was typed. */
  readonly line: string;
}

/** What can be called by `/name`. */
export interface ChatOffer {
  readonly name: string;
  readonly kind: "skill" | "command";
  readonly description: string;
  readonly argumentHint?: string;
}

/** `undefined` for a message: a path has a second slash, and a space before the first one makes it plain text. */
export function readSlash(text: string): Slash | undefined {
  const [, name, line = ""] = /^\/([\p{L}\p{N}._:-]+)(?:\s+([\s\S]*))?$/u.exec(text.trimEnd()) ?? [];
  return name === undefined ? undefined : { name, line };
}

/** By name; a skill hides the command of its name. */
export async function listOffers(host: RunHost, caller: Caller): Promise<readonly ChatOffer[]> {
  const { config } = host.config();
  const skills = host.userSkills().filter((skill) => decideAccess(skill, caller, config) === undefined);
  const names = new Set(skills.map(({ name }) => name));
  const { commands } = await host.commands();
  const others = [...commands.values()].filter(({ name }) => !names.has(name));
  return [
    ...skills.map(({ name, manifest }) => toOffer(name, "skill", manifest)),
    ...others.map(({ name, manifest }) => toOffer(name, "command", manifest)),
  ];
}

function toOffer(
  name: string,
  kind: ChatOffer["kind"],
  { description, argumentHint }: CustomCommand["manifest"],
): ChatOffer {
  return { name, kind, description, ...(argumentHint !== undefined && { argumentHint }) };
}

/** A command's text with its arguments, as the user's message. */
export function commandMessage({ body, manifest }: CustomCommand, line: string): string {
  return neutralise(substituteArguments(body, readArguments(line, manifest.arguments)));
}

/** They pre-approve only for a trusted command. */
export function commandLists({ name, location, trust, manifest }: CustomCommand): ToolLists {
  const { allowedTools, disallowedTools } = manifest;
  return {
    owner: `command \`/${name}\``,
    path: location,
    trust: trust.level,
    isIsolated: false,
    ...(allowedTools && { allowedTools }),
    requiredTools: [],
    disallowedTools,
  };
}

export function refuseSlash(name: string, offers: readonly ChatOffer[]): Refusal {
  const names = offers.map((offer) => offer.name);
  const near = nearestNames(name, names);
  return {
    skill: name,
    reason: "not-found",
    message: `\`/${name}\` is neither a skill nor a command.`,
    hint:
      near.length > 0
        ? `Did you mean ${near.map((other) => `\`/${other}\``).join(" or ")}?`
        : "`/skills` lists what there is. A message that begins with `/` needs a space before it.",
    data: { skill: name, near },
    also: [],
  };
}
