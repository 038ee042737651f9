/**
 * Mounts skills where the Claude Agent SDK and Claude Code look for them, `.claude/skills` of a workspace. The client
 * carries them out itself: a skill that needs a run of Metier is left out, and one that is not trusted brings its text
 * and files, and nothing that the client would obey without asking.
 */
import { join } from "node:path";
import { type Mount, type MountOptions, mountSkills } from "../disclose/mount-skills.ts";
import type { Instructions } from "../disclose/read-instructions.ts";
import { writeSkillText } from "../disclose/write-skill-text.ts";
import { isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import { NEED_ISOLATION } from "../invoke/choose-execution.ts";
import type { Caller } from "../invoke/invocation.ts";
import type { Metier } from "../runtime/create-metier.ts";
import type { Json, SkillManifest } from "../skill/manifest.ts";
import type { Skill } from "../skill/skill.ts";
import { linkTargets } from "../sources/skill-root.ts";
import { showNames } from "../validate/report.ts";

export interface ClaudeMountOptions extends Pick<MountOptions, "workspace" | "mode" | "limits"> {
  /** Their names. Default: all that can be used. A name that is not known throws `SkillNotFoundError`. */
  readonly skills?: readonly string[];
  /** Who asks: skills that are kept to some chats are mounted for those alone. */
  readonly caller?: Caller;
}

export interface LeftOutSkill {
  readonly name: string;
  readonly reason: string;
}

export interface ClaudeMount extends Mount {
  /** For `query({ prompt, options })`, beside your own. */
  readonly options: { cwd: string; settingSources: "project"[]; allowedTools: string[] };
  /** Skills that are in the folder anyway, put there by others. */
  readonly native: readonly string[];
  readonly leftOut: readonly LeftOutSkill[];
}

const TARGET = ".claude/skills";

/** Throws `SkillMountError`; call `cleanup` when the client is done. */
export async function mountClaudeSkills(metier: Metier, options: ClaudeMountOptions): Promise<ClaudeMount> {
  const { workspace, mode, limits, skills: names, caller = {} } = options;
  const place = join(realPathOr(workspace), TARGET);
  const plan: MountPlan = { skills: [], native: [], texts: new Map(), bodies: new Map(), leftOut: [] };
  for (const name of new Set(names ?? metier.names())) {
    const skill = metier.require(name);
    const isThere = skill.directory !== "" && isInside(realPathOr(skill.directory), place);
    if (isThere) plan.native.push(skill.name);
    else await planSkill(name, skill, { metier, caller, plan });
  }
  const mount = await mountSkills(plan.skills, {
    workspace,
    target: TARGET,
    roots: linkTargets(metier.roots),
    bodyOf: ({ name }) => plan.bodies.get(name),
    texts: plan.texts,
    ...(mode && { mode }),
    ...(limits && { limits }),
  });
  return {
    ...mount,
    options: { cwd: realPathOr(workspace), settingSources: ["project"], allowedTools: ["Skill"] },
    native: plan.native,
    leftOut: plan.leftOut,
  };
}

interface MountPlan {
  readonly skills: Skill[];
  readonly native: string[];
  /** Other text than their own, for those that are not trusted. */
  readonly texts: Map<string, string>;
  /** Of skills that were given as objects. */
  readonly bodies: Map<string, string>;
  readonly leftOut: LeftOutSkill[];
}

/** `reference` is how it was asked for: a name, or `scope:name`. */
async function planSkill(
  reference: string,
  skill: Skill,
  { metier, caller, plan }: { readonly metier: Metier; readonly caller: Caller; readonly plan: MountPlan },
): Promise<void> {
  const { name } = skill;
  const leaveOut = (reason: string): void => void plan.leftOut.push({ name, reason });
  const why = whyNotMounted(skill);
  if (why !== undefined) return leaveOut(why);
  // A skill that forks is refused without a task, and that is the client's to give.
  const outcome = await metier.prepare({ skill: reference, caller, message: "Mount." });
  if (!outcome.ok) return leaveOut(outcome.refusal.message);
  plan.skills.push(skill);
  const isTrusted = outcome.prepared.trust.level === "trusted";
  if (isTrusted && skill.location !== "") return;
  const instructions = await metier.getInstructions(reference);
  if (isTrusted) plan.bodies.set(name, instructions.text);
  else plan.texts.set(name, writeSkillText(disarm(instructions)));
}

function whyNotMounted({ manifest, remote }: Skill): string | undefined {
  if (remote) return "It comes from an MCP server, whose skills stay apart: offer it by `claudeSkills`.";
  const needs = NEED_ISOLATION.filter(({ isDeclared }) => isDeclared(manifest)).map(({ field }) => field);
  if (needs.length === 0) return undefined;
  return `It declares ${showNames(needs)}, which only a run of Metier honours: offer it by \`claudeSkills\`.`;
}

/** Without tools, hooks, models and commands: what is left is to be read. */
function disarm({ text, manifest, ...rest }: Instructions): Instructions {
  const body = text.replace(/!+(?=`)/g, "").replace(/^([ \t]*`{3,})!+/gm, "$1");
  return { ...rest, manifest, text: body, frontmatter: restrainingFields(manifest) };
}

function restrainingFields(manifest: SkillManifest): Readonly<Record<string, Json>> {
  const { disableModelInvocation, userInvocable, argumentHint } = manifest;
  return {
    ...(disableModelInvocation && { "disable-model-invocation": true }),
    ...(!userInvocable && { "user-invocable": false }),
    ...(argumentHint !== undefined && { "argument-hint": argumentHint }),
  };
}
