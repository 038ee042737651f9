/**
 * Every check between an invocation and its run, in order of precedence. A check decides one thing and changes nothing.
 * This file has the list and the checks whether a skill may be used; `check-needs.ts` has those for what it needs.
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
  /** From its current file, not from the catalog. */
  readonly skill: Skill;
  readonly execution: "inline" | "isolated";
  readonly trust: EffectiveTrust;
  /** Whether values from the user's config may reach it. */
  readonly userValues: TrustDecision;
  readonly input: Result<Json | undefined, InputFault>;
  /** Values for its variables from the caller, not the user's config. */
  readonly given: Readonly<Record<string, string>>;
  readonly loaded: Pick<LoadedConfig, "config" | "origins">;
  readonly host: InvocationHost;
}

/** What the host reports about itself. */
export interface InvocationHost {
  /** Of this process: checked for what a skill requires of the machine. */
  readonly environment: Environment;
  /** Names of the tools in its run or conversation. Absent: unknown. */
  readonly tools?: readonly string[] | ((subject: CheckSubject) => readonly string[]);
  /** Why this caller can't use the declared capabilities. Absent: nobody can perform any. */
  capabilities?(ids: readonly string[], caller: Caller): CapabilityAnswer | Promise<CapabilityAnswer>;
  /** The scan findings that block an untrusted skill. Absent: nothing is scanned. */
  heldBack?(skill: Skill): Promise<HeldSkill | undefined>;
  /** How deep skills may be nested. */
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

/** Runs all of them, so that a caller sees every problem at once. */
export async function runChecks(subject: CheckSubject): Promise<readonly RefusalCause[]> {
  const causes: RefusalCause[] = [];
  for (const check of CHECKS) {
    const cause = await check(subject);
    if (cause) causes.push(cause);
  }
  return causes;
}

const MOST_NAMES = 20;

/** For a name that isn't in the catalog. */
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
            command: "`metier list` shows every skill; `metier doctor` shows where Metier looks for them.",
            program: "`list()` returns every skill; `catalog.places` shows where Metier looks for them.",
          })),
    data: { skill: asked, near, available: listed },
  };
}

/** Does the configuration allow the skill? Checks the file's own manifest, so shadowed skills too. */
function checkEnabled({ skill, loaded }: CheckSubject): RefusalCause | undefined {
  const { name, scope, manifest } = skill;
  const why = enablementOf(loaded.config.skills)({ manifest, root: { scope } });
  if (why === undefined) return undefined;
  return {
    reason: "disabled",
    message: `Skill \`${name}\` is disabled: ${why}.`,
    hint: forReader({
      command: `Enable it with \`metier enable ${name}\`, if the policy allows it.`,
      program: `Enable it with \`config: { skills: { "${name}": { enabled: true } } }\`, if the policy allows it.`,
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
      command: "Install or set what is missing, then check with `metier doctor`.",
      program: "Install or set what is missing, then call `reload()`.",
    }),
    data: { why: outcome.reason },
  };
}

/** May this source invoke it? The two flags each block only their own source; code may always invoke. */
function checkInvocable({ skill, invocation: { source } }: CheckSubject): RefusalCause | undefined {
  const { name, manifest } = skill;
  const blocked =
    (source === "model" && manifest.disableModelInvocation && "disable-model-invocation: true") ||
    (source === "user" && !manifest.userInvocable && "user-invocable: false");
  if (!blocked) return undefined;
  return {
    reason: "not-invocable",
    message: `A ${source} cannot invoke skill \`${name}\`: it sets \`${blocked}\`.`,
    hint:
      source === "model"
        ? `Ask the user to start it, for example with \`/${name}\`.`
        : "Only models can invoke it: describe the task, and the model may use it.",
    data: { source, flag: blocked },
  };
}

function checkAccess({ skill, invocation: { caller }, loaded }: CheckSubject): RefusalCause | undefined {
  return decideAccess(skill, caller, loaded.config);
}

/** Does the scan block it? Only untrusted skills are scanned, and the same content only once. */
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
 * Does the skill ask for something that only trusted skills get and that it can't do without? That is a fork, and the
 * values of its declared variables: it would run with less than it says it needs. What it merely loses
 * (`choose-execution.ts`) refuses nothing.
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
    message: `Skill \`${skill.name}\` is untrusted here, but asks for ${needs.join(" and ")}, which needs trust. ${trust.reason}`,
    hint: trust.hint,
    data: { needs: [...(isForking ? ["fork"] : []), ...withheld], why: trust.reason },
  };
}

/** The embedding program vouches for a project's skills, but the values in the user's config belong to the user. */
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
    message: `Skill \`${skill.name}\` belongs to a project and asks for ${showNames(users)} from your config, which needs your grant. ${userValues.reason}`,
    hint: forReader({
      command: `Read it with \`metier read ${skill.name}\`, then trust its project with \`metier trust\`.`,
      program: "Read it, then pass the values in `env` of the request, or add its folder to `trustedPaths`.",
    }),
    data: { needs: users, why: userValues.reason },
  };
}

/** Is the skill already running further out? Only the chain counts: two paths to one skill aren't a cycle. */
function checkCycle({ skill: { name }, invocation: { chain = [] } }: CheckSubject): RefusalCause | undefined {
  const first = chain.indexOf(name);
  if (first < 0) return undefined;
  const path = [...chain.slice(first), name];
  return {
    reason: "cycle",
    message: `Skill \`${name}\` is already running: ${path.join(" → ")}.`,
    hint: "Finish with what you have, or use another skill.",
    data: { path },
  };
}

/** Are too many skills nested? */
const DEFAULT_MAX_DEPTH = 3;

function checkDepth({ skill, invocation: { chain = [] }, host }: CheckSubject): RefusalCause | undefined {
  const { maxDepth = DEFAULT_MAX_DEPTH } = host;
  if (chain.length < maxDepth) return undefined;
  return {
    reason: "depth",
    message: `Skill \`${skill.name}\` would be number ${chain.length + 1} in ${[...chain, skill.name].join(" → ")}; at most ${maxDepth} skills can be nested.`,
    hint: "Do the task without another skill, or leave it to the caller.",
    data: { limit: maxDepth, chain },
  };
}
