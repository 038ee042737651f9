/**
 * Every check between an invocation and its run, in the order in which they count. A check decides one thing and changes
 * nothing. Here are the list and those that ask whether it may be used; what it needs is in `check-needs.ts`.
 */

import type { Json } from "@metier/base/json";
import { createCommandFinder, type Environment } from "@metier/base/programs";
import type { Result } from "@metier/base/result";
import { forReader, showNames, showValue, tellMoved } from "@metier/base/text";
import type { HeldSkill } from "@metier/scan";
import { adviseHeld, describeHeld } from "@metier/scan/engine";
import {
  type Catalog,
  checkAvailability,
  enablementOf,
  nearSkills,
  parseSkillAddress,
  type Skill,
  type TrustDecision,
} from "@metier/skills";
import { type LoadedConfig, skillSettings } from "@metier/skills/config";
import { trustAllows } from "@metier/skills/trust";
import {
  checkCapabilities,
  checkEnvironment,
  checkInput,
  checkTools,
  type InputFault,
} from "./check-needs.ts";
import type { EffectiveTrust } from "./conversation-trust.ts";
import { type Caller, decideAccess, type Invocation, type RefusalCause } from "./invocation.ts";

export interface CheckSubject {
  readonly invocation: Invocation;
  /** As its file states it now, not as the catalog remembers it. */
  readonly skill: Skill;
  readonly execution: "inline" | "isolated";
  readonly trust: EffectiveTrust;
  /** Whether values of the user's config may reach it. */
  readonly userValues: TrustDecision;
  readonly input: Result<Json | undefined, InputFault>;
  /** Values for its variables that are the caller's own, not the user's. */
  readonly given: Readonly<Record<string, string>>;
  readonly loaded: Pick<LoadedConfig, "config" | "origins">;
  readonly host: InvocationHost;
}

/** What the host can say about itself. */
export interface InvocationHost {
  /** Of this process: what a skill requires of the machine is looked up in it. */
  readonly environment: Environment;
  /** Names of the tools that its run, or the conversation, has. Absent: none are known. */
  readonly tools?: readonly string[] | ((subject: CheckSubject) => readonly string[]);
  /** Why declared capabilities cannot be used by this caller. Absent: nobody can perform any. */
  capabilities?(ids: readonly string[], caller: Caller): CapabilityAnswer | Promise<CapabilityAnswer>;
  /** What the scan found that keeps an untrusted skill from being used. Absent: nothing is scanned. */
  heldBack?(skill: Skill): Promise<HeldSkill | undefined>;
  /** How many skills may run inside one another. */
  readonly maxDepth?: number;
}

export type CapabilityAnswer = Pick<RefusalCause, "message" | "hint" | "data"> | undefined;

type Check = (subject: CheckSubject) => RefusalCause | undefined | Promise<RefusalCause | undefined>;

const CHECKS: readonly Check[] = [
  checkEnabled,
  checkAvailable,
  checkInvocable,
  checkAccess,
  checkFindings,
  checkTrust,
  checkInput,
  checkTools,
  checkEnvironment,
  checkCapabilities,
  checkCycle,
  checkDepth,
];

/** All of them are asked, so that a caller learns of everything at once. */
export async function runChecks(subject: CheckSubject): Promise<readonly RefusalCause[]> {
  const causes: RefusalCause[] = [];
  for (const check of CHECKS) {
    const cause = await check(subject);
    if (cause) causes.push(cause);
  }
  return causes;
}

const MOST_NAMES = 20;

/** For a name that the catalog does not have. */
export function refuseUnknown(asked: string, catalog: Catalog): RefusalCause {
  const available = catalog.names();
  const { name } = parseSkillAddress(asked);
  const near = nearSkills(name, available);
  const listed = available.slice(0, MOST_NAMES);
  const more = available.length - listed.length;
  const known =
    available.length === 0
      ? "There are no skills."
      : `Available: ${showNames(listed)}${more > 0 ? ` and ${more} more` : ""}.`;
  const which = asked.trim() === "" ? "No skill was named." : `Skill ${showValue(asked)} was not found.`;
  return {
    reason: "not-found",
    message: `${which} ${known}`,
    hint:
      tellMoved(name) ??
      (near.length > 0
        ? `Did you mean ${near.map(showValue).join(" or ")}?`
        : forReader({
            command: "`metier list` shows every skill; `metier doctor` says where they are looked for.",
            program: "`list()` has every skill; `catalog.places` says where they are looked for.",
          })),
    data: { skill: asked, near, available: listed },
  };
}

/** Does the configuration let the skill be used? Asked of the file's own manifest, so also of a shadowed skill. */
function checkEnabled({ skill, loaded }: CheckSubject): RefusalCause | undefined {
  const { name, scope, manifest } = skill;
  const why = enablementOf(loaded.config.skills)({ manifest, root: { scope } });
  if (why === undefined) return undefined;
  return {
    reason: "disabled",
    message: `Skill \`${name}\` is disabled: ${why}.`,
    hint: forReader({
      command: `\`metier enable ${name}\` enables it, where the policy allows that.`,
      program: `\`config: { skills: { "${name}": { enabled: true } } }\` enables it, where the policy allows that.`,
    }),
    data: { why },
  };
}

/** Does this machine have what the skill requires? */
function checkAvailable({ skill, loaded, host }: CheckSubject): RefusalCause | undefined {
  const { environment } = host;
  const outcome = checkAvailability(skill.manifest, {
    findCommand: createCommandFinder(environment),
    environment,
    platform: process.platform,
    settingsEnv: skillSettings(loaded.config, skill.name).env,
  });
  if (outcome.available) return undefined;
  return {
    reason: "unavailable",
    message: `Skill \`${skill.name}\` cannot be used on this machine: ${outcome.reason}.`,
    hint: forReader({
      command: "Install or set what is missing; `metier doctor` looks again.",
      program: "Install or set what is missing, then `reload()`.",
    }),
    data: { why: outcome.reason },
  };
}

/** May it be invoked from this source? The two flags block their own source and no other; code is always permitted. */
function checkInvocable({ skill, invocation: { source } }: CheckSubject): RefusalCause | undefined {
  const { name, manifest } = skill;
  const blocked =
    (source === "model" && manifest.disableModelInvocation && "disable-model-invocation: true") ||
    (source === "user" && !manifest.userInvocable && "user-invocable: false");
  if (!blocked) return undefined;
  return {
    reason: "not-invocable",
    message: `Skill \`${name}\` cannot be invoked by a ${source}: it says \`${blocked}\`.`,
    hint:
      source === "model"
        ? `Ask the user to start it, for example with \`/${name}\`.`
        : "It is for models; describe the task, and the model may use it.",
    data: { source, flag: blocked },
  };
}

function checkAccess({ skill, invocation: { caller }, loaded }: CheckSubject): RefusalCause | undefined {
  return decideAccess(skill, caller, loaded.config);
}

/** Does the scan hold it back? Only what is untrusted is scanned, and the same content only once. */
async function checkFindings({ skill, host }: CheckSubject): Promise<RefusalCause | undefined> {
  const held = await host.heldBack?.(skill);
  if (held === undefined) return undefined;
  return {
    reason: "blocked",
    message: describeHeld(skill.name, held),
    hint: adviseHeld(skill.name, held),
    data: {
      block: held.policy.block,
      findings: held.findings.map(({ id, severity, path, line }) => ({ id, severity, path, line })),
    },
  };
}

/**
 * Does the skill ask for what only a trusted one gets, and cannot do without it? A fork, and the values of the variables
 * it declares: it would run with less than it says it needs. What it merely loses (`choose-execution.ts`) refuses nothing.
 */
function checkTrust(subject: CheckSubject): RefusalCause | undefined {
  const { skill, execution, trust } = subject;
  const isForking = skill.manifest.context === "fork" && !trustAllows(trust.level, "fork-by-own-word");
  const declared = execution === "isolated" ? skill.manifest.env : [];
  const withheld = trustAllows(trust.level, "receive-secrets") ? [] : declared;
  if (!isForking && withheld.length === 0) return refuseUserValues(subject, declared);
  const needs = [
    ...(isForking ? ["`context: fork`"] : []),
    ...(withheld.length > 0 ? [`the variables ${showNames(withheld)}`] : []),
  ];
  return {
    reason: "trust",
    message: `Skill \`${skill.name}\` is untrusted here and asks for ${needs.join(" and ")}, which needs trust. ${trust.reason}`,
    hint: trust.hint,
    data: { needs: [...(isForking ? ["fork"] : []), ...withheld], why: trust.reason },
  };
}

/** The program that embeds us vouches for a project's skills, but the values in the user's config are the user's. */
function refuseUserValues(
  { skill, userValues, loaded, given }: CheckSubject,
  declared: readonly string[],
): RefusalCause | undefined {
  if (trustAllows(userValues.level, "receive-user-values")) return undefined;
  const { env } = skillSettings(loaded.config, skill.name);
  const users = declared.filter((name) => Object.hasOwn(env, name) && !Object.hasOwn(given, name));
  if (users.length === 0) return undefined;
  return {
    reason: "trust",
    message: `Skill \`${skill.name}\` is a project's, and asks for ${showNames(users)} of your config, which needs your grant. ${userValues.reason}`,
    hint: forReader({
      command: `Read it with \`metier read ${skill.name}\`, then trust its project with \`metier trust\`.`,
      program: "Read it, then give the values in `env` of the request, or name its folder in `trustedPaths`.",
    }),
    data: { needs: users, why: userValues.reason },
  };
}

/** Is the skill running already, further out? Only the chain counts: two ways to one skill are no cycle. */
function checkCycle({ skill: { name }, invocation: { chain = [] } }: CheckSubject): RefusalCause | undefined {
  const first = chain.indexOf(name);
  if (first < 0) return undefined;
  const path = [...chain.slice(first), name];
  return {
    reason: "cycle",
    message: `Skill \`${name}\` is running already: ${path.join(" → ")}.`,
    hint: "Finish with what you have, or use another skill.",
    data: { path },
  };
}

/** Are too many skills running inside one another? */
const DEFAULT_MAX_DEPTH = 3;

function checkDepth({ skill, invocation: { chain = [] }, host }: CheckSubject): RefusalCause | undefined {
  const { maxDepth = DEFAULT_MAX_DEPTH } = host;
  if (chain.length < maxDepth) return undefined;
  return {
    reason: "depth",
    message: `Skill \`${skill.name}\` would be number ${chain.length + 1} in ${[...chain, skill.name].join(" → ")}; at most ${maxDepth} skills run inside one another.`,
    hint: "Do the task without another skill, or leave it to the caller.",
    data: { limit: maxDepth, chain },
  };
}
