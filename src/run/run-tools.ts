/** The tools of one run, before any policy: files, shell, web, skills, the user, and what the embedding program brings. */

import { hasFolder } from "../disclose/skill-folder.ts";
import type { CheckSubject } from "../invoke/checks/check.ts";
import type { ConversationTrust } from "../invoke/conversation-trust.ts";
import type { SandboxBackend } from "../sandbox/sandbox.ts";
import type { Skill } from "../skill/skill.ts";
import { askUserTool } from "../tools/ask-user.ts";
import { bashToolFor } from "../tools/bash.ts";
import { fileTools } from "../tools/files/file-tools.ts";
import { type OpenScriptPlace, runScriptTool } from "../tools/scripts/run-script.ts";
import { findSkillsTool } from "../tools/skills/find-skills.ts";
import { listSkillsTool } from "../tools/skills/list-skills.ts";
import { readSkillFileTool } from "../tools/skills/read-skill-file.ts";
import type { SkillLibrary } from "../tools/skills/skill-tool.ts";
import type { Tool } from "../tools/tool.ts";
import { webTools } from "../tools/web/web-tools.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import { grantReach } from "./granted-reach.ts";
import type { RunHost } from "./run-host.ts";
import type { RunParent } from "./run-parent.ts";
import type { RunRequest } from "./run-request.ts";
import { type InvokeFromModel, useSkillTool } from "./use-skill.ts";

export interface RunToolsInput {
  readonly host: RunHost;
  readonly request: Pick<RunRequest, "askUser" | "tools">;
  /** The skill that runs; absent in a conversation of the user's own. */
  readonly skill?: Skill;
  readonly trust: Skill["trust"]["level"];
  readonly network: readonly string[];
  /** What holds commands, as far as it is known. */
  readonly backend?: SandboxBackend | undefined;
  readonly invoke: InvokeFromModel;
  /** Where scripts of other skills run. */
  readonly openScript: OpenScriptPlace;
  /** Of the conversation the tools serve: a file of an untrusted skill that is read there is in it like its text. */
  readonly conversation?: ConversationTrust;
}

/** Made once: their input schemas are compiled once, too. */
const FILE_TOOLS = fileTools();

/** Above this many skills a listing says less than a search. */
const MANY_SKILLS = 30;

export function runTools(input: RunToolsInput): readonly Tool[] {
  const { host, request, skill, trust, network, invoke, conversation } = input;
  const seen = libraryFor(host.library, skill, trustAllows(trust, "read-working-directory"));
  const library = conversation ? noteReading(seen, conversation) : seen;
  const others = host.library.skills().filter(({ name }) => name !== skill?.name);
  const useSkill = useSkillTool(others, invoke, () => host.config().config.runs.outputFilter);
  const canFetch = network.length > 0;
  return [
    bashToolFor(network, input.backend),
    ...FILE_TOOLS,
    ...scriptTools(input, seen),
    ...webTools(host.search ? { search: host.search } : {}).filter(
      ({ name }) => name !== "web_fetch" || canFetch,
    ),
    ...(useSkill ? [useSkill, listSkillsTool(host.library)] : []),
    ...(others.length > MANY_SKILLS ? [findSkillsTool(host.library)] : []),
    ...(library.skills().length > 0 ? [readSkillFileTool(library)] : []),
    ...(request.askUser ? [askUserTool(request.askUser)] : []),
    ...programTools(host, request),
  ];
}

/** For scripts of its own skill, and of those whose files can be read here; absent when none of them has a folder. */
function scriptTools({ host, skill, openScript }: RunToolsInput, seen: SkillLibrary): readonly Tool[] {
  const others = (): readonly string[] =>
    seen.skills().flatMap((other) => (other.name !== skill?.name && hasFolder(other) ? [other.name] : []));
  const own = skill && hasFolder(skill) ? skill.name : undefined;
  if (own === undefined && others().length === 0) return [];
  const timeoutMs = host.config().config.skills.scriptTimeoutMs;
  return [runScriptTool({ timeoutMs, others, open: openScript, ...(own !== undefined && { own }) })];
}

/** What the embedding program brings: for all runs, and for this one. */
export function programTools(
  { tools }: Pick<RunHost, "tools">,
  request: Pick<RunRequest, "tools">,
): readonly Tool[] {
  return [...tools, ...(request.tools ?? [])];
}

/** The names of the tools its run would have, or the conversation it is read in: what `required-tools` is held against. */
export function offeredTools(
  { skill, execution, trust: own }: Pick<CheckSubject, "skill" | "execution" | "trust">,
  host: RunHost,
  request: Pick<RunRequest, "askUser" | "tools">,
  parent?: Pick<RunParent, "trust" | "network">,
): readonly string[] {
  const isRun = execution === "isolated";
  const trust = isRun ? own.level : (parent?.trust ?? "trusted");
  const { network } = grantReach({
    trust,
    config: host.config().config,
    cwd: host.cwd,
    places: host.places,
    caller: parent?.network,
    ...(isRun && { skill }),
  }).granted;
  const never = (): Promise<never> => Promise.reject(new Error("Only named, not called."));
  const tools = runTools({
    host,
    request,
    trust,
    network,
    invoke: never,
    openScript: never,
    ...(isRun && { skill }),
  });
  return tools.map(({ name }) => name);
}

/** A run reads its own skill's files, and those of others only when it sees more of the machine than its own folders. */
function libraryFor(library: SkillLibrary, own: Skill | undefined, seesOthers: boolean): SkillLibrary {
  if (own === undefined) return library;
  return {
    ...library,
    skills: () => {
      const others = seesOthers ? library.skills().filter(({ name }) => name !== own.name) : [];
      return [...others, ...(hasFolder(own) ? [own] : [])];
    },
  };
}

/** Whatever is read of an untrusted skill is in the conversation from then on. */
export function noteReading(library: SkillLibrary, conversation: ConversationTrust): SkillLibrary {
  return {
    ...library,
    readResource(name, path, options) {
      const skill = library.skills().find((known) => known.name === name);
      if (skill) conversation.note(name, skill.trust.level);
      return library.readResource(name, path, options);
    },
  };
}
