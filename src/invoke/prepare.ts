/**
 * From an invocation to a prepared one or a refusal. The file is read anew and every check is made on what it says now;
 * only then are values fetched, commands in the text run and arguments put in. Nothing is sent to a model here.
 */
import { skillSettings } from "../config/skill-settings.ts";
import { type CleanText, cleanText } from "../disclose/clean-text.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { SecretMachine } from "../secrets/fetch-secret.ts";
import { type RunEnvironment, resolveRunEnvironment } from "../secrets/run-environment.ts";
import type { Json } from "../skill/manifest.ts";
import type { Skill } from "../skill/skill.ts";
import { digestBytes } from "../trust/identify-file.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import { showNames } from "../validate/report.ts";
import type { CheckSubject, InvocationHost } from "./checks/check.ts";
import { refuseUnknown } from "./checks/exists.ts";
import { runChecks } from "./checks.ts";
import { type AskedExecution, chooseExecution } from "./choose-execution.ts";
import type { ConversationTrust } from "./conversation-trust.ts";
import type { CommandPlace } from "./dynamic-context.ts";
import { effectiveTrust } from "./effective-trust.ts";
import { type FoundSkill, findSkill, type InvocationState, type SkillSources } from "./find-skill.ts";
import { givenValues } from "./given-values.ts";
import type {
  Invocation,
  PreparedInvocation,
  PrepareOutcome,
  RefusalCause,
  RefusalReason,
} from "./invocation.ts";
import { readInput } from "./read-input.ts";
import { renderBody } from "./render-body.ts";
import { pathOf, reportFields } from "./report-fields.ts";

export interface PrepareDependencies extends SkillSources, InvocationHost {
  /** Fetches values that the config only refers to. */
  readonly machine: SecretMachine;
  /** How the caller wants it, over what the config says. */
  readonly asked?: AskedExecution;
  /** `false`: this host has no runs, so a skill that needs one is refused. */
  readonly canRun?: boolean;
  /** The conversation it is invoked from. */
  readonly conversation?: ConversationTrust;
  /** Values of this one call for declared variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where the commands of a trusted skill's text run, when the config allows them. Absent: nowhere. */
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
    ...checkFile(subject, found, isScript),
    ...checkHost(subject, dependencies),
    ...(isScript ? checkScript(subject) : []),
  ];
  if (causes.length > 0) return refuse(skill.name, causes);
  const environment = await resolveEnvironment(subject, dependencies);
  if ("reason" in environment) return refuse(skill.name, [environment]);
  const instructions = isScript ? undefined : found.instructions;
  return { ok: true, prepared: await assemble(subject, instructions, environment, dependencies) };
}

/** What a loop with a model needs, and one of the skill's scripts does not. */
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
    trust: effectiveTrust(skill.name, trust, invocation, conversation),
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
): readonly RefusalCause[] {
  const data = { location: skill.location };
  if (fault !== undefined) {
    const hint = fault.hint ?? `\`metier validate ${skill.location}\` says what is wrong.`;
    return [{ reason: "unreadable", message: fault.message, hint, data }];
  }
  if (isScript || execution === "inline" || instructions?.text.trim()) return [];
  const message = `Skill \`${skill.name}\` has no instructions, so there is nothing to run.`;
  return [{ reason: "unreadable", message, hint: "Write what is to be done below the frontmatter.", data }];
}

function checkHost(
  { skill, execution }: CheckSubject,
  { canRun = true }: PrepareDependencies,
): readonly RefusalCause[] {
  if (canRun || execution === "inline") return [];
  const why = skill.manifest.context === "fork" ? "it says `context: fork`" : "it can only run in isolation";
  return [
    {
      reason: "needs-run",
      message: `Skill \`${skill.name}\` needs a run of its own: ${why}. Only its text can be given here (\`needs-run\`).`,
      hint: `Run it with \`metier run ${skill.name}\`; an MCP server that runs skills is started with \`metier mcp --run\`.`,
      data: {},
    },
  ];
}

/** A script is code, whoever asks for it. */
function checkScript({ skill, trust }: CheckSubject): readonly RefusalCause[] {
  if (skill.remote === undefined || trustAllows(trust.level, "execute-from-server")) return [];
  const { server } = skill.remote;
  return [
    {
      reason: "trust",
      message: `Skill \`${skill.name}\` comes from the MCP server \`${server}\` and is not approved, so none of its scripts is run. ${trust.reason}`,
      hint: `Read it with \`metier read ${skill.name}\`, then \`metier remote approve ${skill.name}\`.`,
      data: { needs: ["approval"], why: trust.reason },
    },
  ];
}

const NO_VARIABLES: RunEnvironment = { variables: {}, missing: [], withheld: [], diagnostics: [] };

/** Only a run has processes to give variables to. What config refers to may still turn out to be missing. */
async function resolveEnvironment(
  { skill, execution, trust, userValues, given, loaded }: CheckSubject,
  { machine }: PrepareDependencies,
): Promise<RunEnvironment | RefusalCause> {
  if (execution === "inline" || skill.manifest.env.length === 0) return NO_VARIABLES;
  const settings = skillSettings(loaded.config, skill.name);
  const environment = await resolveRunEnvironment({ skill, settings, given, trust, userValues, machine });
  const lacking = [...environment.missing, ...environment.withheld];
  if (lacking.length === 0) return environment;
  const faults = environment.diagnostics.filter(({ severity }) => severity === "error");
  return {
    reason: "environment",
    message: [
      `Skill \`${skill.name}\` needs ${showNames(lacking)}.`,
      ...faults.map(({ message }) => message),
    ].join(" "),
    hint: faults.map(({ hint }) => hint).join(" "),
    data: { missing: lacking },
  };
}

async function assemble(
  subject: CheckSubject,
  instructions: FoundSkill["instructions"],
  environment: RunEnvironment,
  { commandPlace }: PrepareDependencies,
): Promise<PreparedInvocation> {
  const { skill, invocation, execution, trust, input } = subject;
  const { source, caller, chain = [] } = invocation;
  const line = cleanText(invocation.arguments ?? "");
  const message = cleanText(invocation.message ?? "");
  const context = cleanText(invocation.context ?? "");
  const given = input.ok ? input.input : undefined;
  const data = cleanText(given === undefined ? "" : JSON.stringify(given));
  const body = await renderBody(instructions?.text ?? "", {
    skill,
    execution,
    trust,
    arguments: line.text,
    isDynamic: subject.loaded.config.skills.dynamicContext,
    ...(commandPlace && { commandPlace }),
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
    ...(invocation.message !== undefined && { message: message.text }),
    ...(invocation.context !== undefined && { context: context.text }),
    ...(given !== undefined && { input: JSON.parse(data.text) as Json }),
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
        message: `Characters that cannot be seen were removed from the \`${what}\` of the call: ${count}, ${example} first.`,
      },
    ];
  });
}

function refuse(skill: string, [first, ...also]: readonly RefusalCause[]): PrepareOutcome {
  if (first === undefined) throw new Error("A refusal needs a cause.");
  return { ok: false, refusal: { ...first, skill, also } };
}
