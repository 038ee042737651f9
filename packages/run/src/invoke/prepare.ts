/**
 * Turns an invocation into a prepared one or a refusal. The file is read again and every check uses its current
 * content; only then are values fetched, commands in the text run and arguments filled in. Nothing is sent to a model
 * here.
 */

import { existsSync } from "node:fs";
import type { Diagnostic } from "@metier/base/diagnostic";
import { digestBytes } from "@metier/base/digest";
import { SkillError, SkillLoadError, SkillParseError, SkillValidationError } from "@metier/base/errors";
import { type Json, presentFields } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { type CleanText, cleanText, forReader, showNames } from "@metier/base/text";
import { type RemoteReadiness, refuseLoad } from "@metier/install/remote";
import { type RunEnvironment, resolveRunEnvironment, type SecretMachine } from "@metier/sandbox/secrets";
import {
  type Catalog,
  type Instructions,
  linkTargets,
  type Profile,
  readInstructions,
  type Skill,
  type SkillRoot,
  type SkillTrust,
  type TrustOnUse,
} from "@metier/skills";
import { formatKeyPath, type LoadedConfig, skillSettings } from "@metier/skills/config";
import { trustAllows } from "@metier/skills/trust";
import { readInput } from "./check-needs.ts";
import { type CheckSubject, type InvocationHost, refuseUnknown, runChecks } from "./checks.ts";
import { type AskedExecution, chooseExecution, pathOf, reportFields } from "./choose-execution.ts";
import { type ConversationTrust, effectiveTrust } from "./conversation-trust.ts";
import {
  type Invocation,
  joinArguments,
  type PreparedInvocation,
  type PrepareOutcome,
  type RefusalCause,
  type RefusalReason,
} from "./invocation.ts";
import { type CommandPlace, renderBody } from "./render-body.ts";

export interface PrepareDependencies extends SkillSources, InvocationHost {
  /** Fetches values that the config only refers to. */
  readonly machine: SecretMachine;
  /** How the caller wants it to run; overrides the config. */
  readonly asked?: AskedExecution | undefined;
  /** `false`: this host has no runs, so a skill that needs one is refused. */
  readonly canRun?: boolean | undefined;
  /** The conversation it is invoked from. */
  readonly conversation?: ConversationTrust | undefined;
  /** Values of this call for declared variables. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Where commands in a trusted skill's text run, if the config allows them. Absent: nowhere. */
  commandPlace?(skill: Skill): Promise<CommandPlace | undefined>;
}

export async function prepareInvocation(
  invocation: Invocation,
  dependencies: PrepareDependencies,
): Promise<PrepareOutcome> {
  const { state, found } = await findSkill(invocation.skill, dependencies);
  if (found === undefined) return refuse(invocation.skill, [refuseUnknown(invocation.skill, state.catalog)]);
  const subject = await describeSubject(invocation, found, state, dependencies);
  const { skill } = subject;
  const isScript = dependencies.asked === "script";
  const causes = [
    ...(await runChecks(subject)).filter(({ reason }) => !(isScript && ONLY_FOR_MODELS.has(reason))),
    checkFile(subject, found, isScript),
    checkHost(subject, dependencies),
    isScript ? checkScript(subject) : undefined,
  ].filter((cause) => cause !== undefined);
  if (causes.length > 0) return refuse(skill.name, causes);
  const environment = await resolveEnvironment(subject, dependencies);
  if (!environment.ok) return refuse(skill.name, [environment.refusal]);
  const instructions = isScript ? undefined : found.instructions;
  return { ok: true, prepared: await assemble(subject, instructions, environment.value, dependencies) };
}

/** What a model's loop needs, but a skill's script doesn't. */
const ONLY_FOR_MODELS: ReadonlySet<RefusalReason> = new Set(["input", "tools", "cycle", "depth"]);

async function describeSubject(
  invocation: Invocation,
  { skill, trust, userValues }: FoundSkill,
  { config: loaded }: InvocationState,
  { asked, conversation, env, ...host }: PrepareDependencies,
): Promise<CheckSubject> {
  const configured = loaded.config.skills.defaultExecution;
  return {
    invocation,
    skill,
    execution: chooseExecution(skill.manifest, { asked, configured }),
    trust: effectiveTrust(skill, trust, invocation, conversation),
    userValues,
    input: await readInput(skill.manifest, invocation.input),
    given: givenValues(skill, loaded, env),
    loaded,
    host,
  };
}

function checkFile(
  { skill, execution }: CheckSubject,
  { instructions, fault }: FoundSkill,
  isScript: boolean,
): RefusalCause | undefined {
  const data = { location: skill.location, ...(fault && { fault: fault.code, detail: detailOf(fault) }) };
  if (fault !== undefined) {
    const hint =
      fault.hint ??
      forReader({
        command: `See what is wrong with \`metier validate ${skill.location}\`.`,
        program: `See what is wrong with \`validate("${skill.location}")\`.`,
      });
    return { reason: "unreadable", message: fault.message, hint, data };
  }
  if (isScript || execution === "inline" || instructions?.text.trim()) return undefined;
  const message = `Skill \`${skill.name}\` has no instructions, so there is nothing to run.`;
  return { reason: "unreadable", message, hint: "Write the instructions below the frontmatter.", data };
}

function detailOf(fault: SkillError): string {
  if (fault instanceof SkillParseError) return fault.detail;
  if (fault instanceof SkillValidationError) return fault.errors.join("; ");
  return fault.cause instanceof Error || typeof fault.cause === "string"
    ? String(fault.cause)
    : fault.message;
}

function tellRun(name: string): string {
  return forReader({
    command: `Run it with \`metier run ${name}\`, or start an MCP server that runs skills with \`metier mcp --run\`.`,
    program: `Run it with \`run({ skill: "${name}" })\`, or remove \`canRun: false\`.`,
  });
}

function checkHost(
  { skill, execution, invocation }: CheckSubject,
  { canRun = true }: PrepareDependencies,
): RefusalCause | undefined {
  if (canRun || execution === "inline") return undefined;
  const why = skill.manifest.context === "fork" ? "it sets `context: fork`" : "it can only run in isolation";
  return {
    reason: "needs-run",
    message: `Skill \`${skill.name}\` needs an isolated run: ${why}. Only its text is available here (\`needs-run\`).`,
    hint:
      invocation.source === "model" ? "Use another skill, or do the task without one." : tellRun(skill.name),
    data: {},
  };
}

/** A script is code, whoever requests it. */
function checkScript({ skill, trust }: CheckSubject): RefusalCause | undefined {
  if (skill.remote === undefined || trustAllows(trust.level, "execute-from-server")) return undefined;
  const { server } = skill.remote;
  return {
    reason: "trust",
    message: `Skill \`${skill.name}\` comes from the MCP server \`${server}\` and is not approved, so its scripts do not run. ${trust.reason}`,
    hint: forReader({
      command: `Read it with \`metier read ${skill.name}\`, then approve it with \`metier remote approve ${skill.name}\`.`,
      program: `Read it, then call \`remote.approve("${skill.name}")\`.`,
    }),
    data: { needs: ["approval"], why: trust.reason },
  };
}

const NO_VARIABLES: RunEnvironment = { variables: {}, missing: [], withheld: [], diagnostics: [] };

/** Only a run has processes that need variables. Values that the config refers to may still be missing. */
async function resolveEnvironment(
  { skill, execution, trust, userValues, given, loaded }: CheckSubject,
  { machine }: PrepareDependencies,
): Promise<Result<RunEnvironment, RefusalCause>> {
  if (execution === "inline" || skill.manifest.env.length === 0) return done(NO_VARIABLES);
  const settings = skillSettings(loaded.config, skill.name);
  const environment = await resolveRunEnvironment({ skill, settings, given, trust, userValues, machine });
  const lacking = [...environment.missing, ...environment.withheld];
  if (lacking.length === 0) return done(environment);
  const faults = environment.diagnostics.filter(({ severity }) => severity === "error");
  const needs = `Skill \`${skill.name}\` needs ${showNames(lacking)}.`;
  return refused({
    reason: "environment",
    message: [needs, ...faults.map(({ message }) => message)].join(" "),
    hint: faults.map(({ hint }) => hint).join(" "),
    data: { missing: lacking },
  });
}

async function assemble(
  subject: CheckSubject,
  instructions: FoundSkill["instructions"],
  environment: RunEnvironment,
  { commandPlace }: PrepareDependencies,
): Promise<PreparedInvocation> {
  const { skill, invocation, execution, trust, input } = subject;
  const { source, caller, chain = [] } = invocation;
  const words = invocation.arguments ?? "";
  const line = cleanText(joinArguments(words));
  const message = cleanText(invocation.message ?? "");
  const context = cleanText(invocation.context ?? "");
  const given = input.ok ? input.value : undefined;
  const data = cleanText(given === undefined ? "" : JSON.stringify(given));
  const body = await renderBody(instructions?.text ?? "", {
    skill,
    execution,
    trust,
    arguments: typeof words === "string" ? line.text : words.map((word) => cleanText(word).text),
    isDynamic: subject.loaded.config.skills.dynamicContext,
    commandPlace,
  });
  return {
    skill,
    source,
    caller,
    chain,
    execution,
    trust: { level: trust.level, reason: trust.reason },
    instructions: body.text,
    digest: digestBytes(body.text),
    ...presentFields({
      message: invocation.message === undefined ? undefined : message.text,
      context: invocation.context === undefined ? undefined : context.text,
      input: given === undefined ? undefined : (JSON.parse(data.text) as Json),
    }),
    env: environment.variables,
    diagnostics: [
      ...(instructions?.diagnostics ?? []),
      ...reportFields(skill, execution, trust),
      ...body.diagnostics,
      ...environment.diagnostics,
      ...reportRemoved(skill, { arguments: line, message, context, input: data }),
    ],
  };
}

function reportRemoved(skill: Skill, texts: Readonly<Record<string, CleanText>>): readonly Diagnostic[] {
  return Object.entries(texts).flatMap(([what, { removed }]): Diagnostic[] => {
    if (removed === undefined) return [];
    const { count, example } = removed;
    return [
      {
        code: "disclosure.text-removed",
        severity: "warning",
        path: pathOf(skill),
        message: `Removed ${count} invisible characters from the call's \`${what}\`, ${example} first.`,
      },
    ];
  });
}

function refuse(skill: string, [first, ...also]: readonly RefusalCause[]): PrepareOutcome {
  if (first === undefined) throw new Error("A refusal needs a cause.");
  return { ok: false, refusal: { ...first, skill, also } };
}

/**
 * The values for a skill's variables that the caller provides: with this call, or in the embedding program's options.
 * They need no grant, because they don't come from the user's config.
 */
function givenValues(
  { name, manifest }: Skill,
  { config, origins }: Pick<LoadedConfig, "config" | "origins">,
  ofThisCall: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const { env } = skillSettings(config, name);
  const fromProgram = manifest.env.flatMap((variable) => {
    const configured = Object.hasOwn(env, variable) ? env[variable] : undefined;
    const origin = origins.get(formatKeyPath(["skills", name, variable]));
    const isProgram = origin?.layer === "option" && configured !== undefined && "value" in configured;
    return isProgram ? [[variable, configured.value] as const] : [];
  });
  return { ...Object.fromEntries(fromProgram), ...ofThisCall };
}

/** One state of everything that is loaded. A reload replaces it as a whole. */
interface InvocationState {
  readonly catalog: Catalog;
  readonly config: Pick<LoadedConfig, "config" | "origins">;
  readonly roots: readonly Pick<SkillRoot, "path" | "locked">[];
  readonly trustOnUse: TrustOnUse;
}

export interface SkillSources {
  current(): InvocationState;
  /** Loads everything again, so that `current` returns a new state. */
  reload?(): Promise<unknown>;
  readonly profile?: Profile;
  /** The body of a skill passed as an object. */
  bodyOf?(skill: Skill): string | undefined;
  /** Whether an MCP server's skill files are here and as declared; fetches them. */
  ready?(skill: Skill): Promise<RemoteReadiness>;
}

interface FoundSkill extends SkillTrust {
  /** With its file's current manifest. */
  readonly skill: Skill;
  /** Absent if the file can't be read or is no longer a skill; `fault` says why. */
  readonly instructions?: Instructions;
  readonly fault?: SkillError;
}

interface Finding {
  readonly state: InvocationState;
  /** Absent if there is no such skill. */
  readonly found?: FoundSkill;
  /** The catalog is out of date. */
  readonly isStale: boolean;
}

/**
 * Resolves a name to the skill as it is now: reads and checks the file again, and decides its trust again. An unknown
 * name, a file that can't be used anymore and lost trust cause one reload of the catalog.
 */
export async function findSkill(name: string, sources: SkillSources): Promise<Finding> {
  const finding = await look(name, sources);
  if (!finding.isStale || sources.reload === undefined) return finding;
  await sources.reload();
  const again = await look(name, sources);
  // A file that exists but can't be used is no longer in a catalog; that differs from a skill that is gone.
  const isLost =
    again.found === undefined && finding.found?.fault && existsSync(finding.found.skill.location);
  return isLost ? { ...finding, state: again.state, isStale: false } : again;
}

async function look(name: string, sources: SkillSources): Promise<Finding> {
  const state = sources.current();
  const listed = state.catalog.get(name);
  if (listed === undefined) return { state, isStale: true };
  const readiness = listed.remote ? await sources.ready?.(listed) : undefined;
  if (readiness && readiness.kind !== "ready") {
    const { trust } = listed;
    const fault = refuseLoad(listed, readiness);
    const isStale = readiness.kind === "changed";
    return { state, found: { skill: listed, trust, userValues: trust, fault }, isStale };
  }
  const read = await readNow(listed, state, sources);
  // After the text was read, so that a change in between loses the grant.
  const { trust, userValues, changed } = state.trustOnUse(listed);
  const fault = changed ? new SkillLoadError(name, listed.location, changed.message, changed) : read;
  if (fault instanceof SkillError) {
    return { state, found: { skill: listed, trust, userValues, fault }, isStale: true };
  }
  const { manifest } = fault;
  const skill = Object.freeze({ ...listed, manifest, description: manifest.description, trust });
  // A skill that lost its trust must not hide a trusted one with its name.
  const isStale = listed.trust.level === "trusted" && trust.level === "untrusted";
  const diagnostics = [...(readiness?.diagnostics ?? []), ...fault.diagnostics];
  return { state, found: { skill, trust, userValues, instructions: { ...fault, diagnostics } }, isStale };
}

async function readNow(
  skill: Skill,
  { roots }: InvocationState,
  { profile, bodyOf }: SkillSources,
): Promise<Instructions | SkillError> {
  try {
    return await readInstructions(skill, { roots: linkTargets(roots), profile, bodyOf });
  } catch (error) {
    if (error instanceof SkillError) return error;
    throw error;
  }
}
