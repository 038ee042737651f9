/**
 * The tools of one run, before any policy: files, shell, web, skills, the user, and those of the embedding program and
 * the skill. Also prepares a request, which checks that the tools its skill requires exist.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { folderName } from "@metier/base/files";
import type { SandboxBackend } from "@metier/sandbox";
import { hasFolder, type Skill } from "@metier/skills";
import { trustAllows } from "@metier/skills/trust";
import { askUserDurably } from "../durable/durable-questions.ts";
import type { CheckSubject } from "../invoke/checks.ts";
import type { ConversationMemory, ConversationTrust } from "../invoke/conversation-trust.ts";
import { type PreparedInvocation, type PrepareOutcome, refusalText } from "../invoke/invocation.ts";
import { type AskInCall, askUserTool } from "../tools/ask-user.ts";
import { fileTools } from "../tools/files/file-tools.ts";
import { bashToolFor } from "../tools/run-command.ts";
import { type OpenScriptPlace, runScriptTool } from "../tools/scripts/run-script.ts";
import {
  findSkillsTool,
  listSkillsTool,
  readSkillFileTool,
  type SkillLibrary,
} from "../tools/skill-tools.ts";
import type { Tool } from "../tools/tool.ts";
import { checkProgramTools, type OwnedTool } from "../tools/tool.ts";
import { openToolsets } from "../tools/toolsets/open-toolsets.ts";
import { webTools } from "../tools/web/web-tools.ts";
import { refuseWithoutSocket } from "./capability-preflight.ts";
import { grantReach } from "./granted-reach.ts";
import { checkOutputSchema } from "./output-contract.ts";
import {
  asParent,
  type DecidedRun,
  inheritRequest,
  type RunContext,
  type RunGiven,
  type RunParent,
  startChild,
} from "./run-context.ts";
import { openRunPlace, type RunPlace } from "./run-place.ts";
import { queueQuestions } from "./run-policy.ts";
import { type PrepareOptions, programTools, type RunHost, type RunRequest } from "./run-request.ts";
import { deliverValues, openRedactor } from "./run-secrets.ts";
import { type InvokeFromModel, useSkillTool } from "./use-skill.ts";

interface RunToolsInput {
  readonly host: RunHost;
  readonly request: Pick<RunRequest, "askUser" | "tools">;
  /** The running skill; absent in the user's own conversation. */
  readonly skill?: Skill | undefined;
  readonly trust: Skill["trust"]["level"];
  readonly network: readonly string[];
  /** The sandbox of commands, if known. */
  readonly backend?: SandboxBackend | undefined;
  readonly invoke: InvokeFromModel;
  /** Asks the user, instead of the request's own way. */
  readonly ask?: AskInCall | undefined;
  /** Where scripts of other skills run. */
  readonly openScript: OpenScriptPlace;
  /** Of the conversation the tools serve: an untrusted skill's file that is read there counts like its text. */
  readonly conversation?: ConversationTrust | undefined;
}

/** With more skills than this, a search helps more than a listing. */
const MANY_SKILLS = 30;

function runTools(input: RunToolsInput): readonly Tool[] {
  const { host, request, skill, trust, network, invoke, conversation } = input;
  const { askUser } = request;
  const ask = input.ask ?? (askUser && ((question, { signal }) => askUser(question, signal)));
  const seen = libraryFor(host.library, skill, trustAllows(trust, "read-working-directory"));
  const library = conversation ? noteReading(seen, conversation) : seen;
  const others = host.library.skills().filter(({ name }) => name !== skill?.name);
  const useSkill = useSkillTool(others, invoke, () => host.config().runs.outputFilter);
  const canFetch = network.length > 0;
  return [
    bashToolFor(network, input.backend),
    ...fileTools(),
    ...scriptTools(input, seen),
    ...webTools({ search: host.search }).filter(({ name }) => name !== "web_fetch" || canFetch),
    ...(useSkill ? [useSkill, listSkillsTool(host.library)] : []),
    ...(others.length > MANY_SKILLS ? [findSkillsTool(host.library)] : []),
    ...(library.skills().length > 0 ? [readSkillFileTool(library)] : []),
    ...(ask ? [askUserTool(ask)] : []),
    ...programTools(host, request),
  ];
}

/** For scripts of its own skill, and of those whose files can be read here; absent if none of them has a folder. */
function scriptTools({ host, skill, openScript }: RunToolsInput, seen: SkillLibrary): readonly Tool[] {
  const others = (): readonly string[] =>
    seen.skills().flatMap((other) => (other.name !== skill?.name && hasFolder(other) ? [other.name] : []));
  const own = skill && hasFolder(skill) ? skill.name : undefined;
  if (own === undefined && others().length === 0) return [];
  const timeoutMs = host.config().skills.scriptTimeoutMs;
  return [runScriptTool({ timeoutMs, others, open: openScript, own })];
}

/** The names of the tools of its run or conversation: what `required-tools` is checked against. */
function offeredTools(
  { skill, execution, trust: own }: Pick<CheckSubject, "skill" | "execution" | "trust">,
  host: RunHost,
  request: Pick<RunRequest, "askUser" | "tools">,
  parent?: Pick<RunParent, "trust" | "network">,
): readonly string[] {
  const isRun = execution === "isolated";
  const trust = isRun ? own.level : (parent?.trust ?? "trusted");
  const known = { host, request, trust, skill: isRun ? skill : undefined };
  const { places } = host;
  const reach = { config: host.config(), cwd: host.cwd ?? host.base, places, caller: parent?.network };
  const { granted } = grantReach({ ...known, ...reach });
  const never = (): Promise<never> => Promise.reject(new Error("Only named, not called."));
  const tools = runTools({ ...known, network: granted.network, invoke: never, openScript: never });
  return tools.map(({ name }) => name);
}

/** A run reads its own skill's files, and those of others only if it sees more of the machine than its own folders. */
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

/** What is read from an untrusted skill is in the conversation from then on. */
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

export interface RunToolsets {
  readonly tools: readonly OwnedTool[];
  /** Their own names; absent: unknown, because they weren't loaded. */
  readonly names?: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  close(): Promise<void>;
}

/** The limit for loading all modules of a skill; normally a fraction of a second. */
const LOAD_MS = 30_000;
/** The longest time that a timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const NOTHING: RunToolsets = { tools: [], diagnostics: [], close: () => Promise.resolve() };

/** The tools that a run's skill provides as code: opened for a trusted skill, never in a plan. */
export async function openRunToolsets(
  { prepared, place, memory, limits, redactor }: DecidedRun,
  { host, isDry, request }: RunGiven,
  others: readonly Tool[],
): Promise<RunToolsets> {
  const { skill, trust } = prepared;
  const isAllowed = trustAllows(trust.level, "load-toolsets"); // What is withheld was reported with the invocation.
  if (skill.manifest.toolsets.length === 0 || !isAllowed) return { ...NOTHING, names: [] };
  if (isDry) return NOTHING;
  const { scriptTimeoutMs, namespaceTools } = host.config().skills;
  const { tools, diagnostics, close } = await openToolsets({
    skill: skill.name,
    path: skill.location,
    entries: skill.manifest.toolsets,
    world: place.world,
    folder: place.world.skillDir,
    sandbox: place.sandbox,
    env: deliverValues(prepared, memory),
    times: { loadMs: LOAD_MS, callMs: scriptTimeoutMs },
    lifetimeMs: Math.min(limits.timeoutMs + LOAD_MS, MAX_TIMER_MS),
    isNamespaced: namespaceTools,
    taken: others.map(({ name }) => name),
    mayLoad: () => trustAllows(host.trustNow(skill), "load-toolsets"),
    taintedBy: () => memory.trust.taintedBy,
    signal: request.signal,
  });
  return {
    tools,
    names: tools.map(({ id }) => id.slice(skill.name.length + 1)),
    diagnostics: redactor.redactJson(diagnostics), // A process that ends may have printed what it was given.
    close,
  };
}

export interface PrepareWish extends Pick<PrepareOptions, "asked" | "isDry" | "canRun"> {
  /** The run or conversation that requests it. */
  readonly parent?: RunParent | undefined;
}

export async function prepareRequest(
  request: RunRequest,
  host: RunHost,
  { parent, isDry = false, canRun = true, asked }: PrepareWish = {},
): Promise<PrepareOutcome> {
  checkProgramTools(programTools(host, request));
  checkOutputSchema(request.output);
  const { skill, message, context, arguments: line, input, source = "code", caller = {} } = request;
  const asker = { source, caller, chain: parent?.chain, callerTrust: parent?.trust };
  return host.prepare(
    { skill, message, context, arguments: line, input, ...asker },
    {
      tools: (subject) => offeredTools(subject, host, request, parent),
      request,
      isDry,
      canRun,
      asked,
      conversation: parent?.memory.trust,
    },
  );
}

/**
 * Where another skill's script runs when a model requests it: with all checks of an invocation, its own world and
 * variables, and never more rights than the run or chat turn that requests it. An untrusted one gets its own work
 * folder.
 */
function createScriptPlaces(current: () => RunContext): OpenScriptPlace {
  return async (name, { world, signal }) => {
    const context = current();
    const { host, runId, capabilityNotes, questions, durable } = context;
    const parent = asParent(context);
    const asked = { ...inheritRequest(context), skill: name, signal };
    const outcome = await prepareRequest(asked, host, { asked: "script", parent });
    if (!outcome.ok) return { ok: false, message: refusalText(outcome.refusal) };
    const { prepared } = outcome;
    const { skill, trust } = prepared;
    // Its secrets are also kept out of what its caller shows.
    const redactor = openRedactor(prepared, { request: asked, host, parent });
    // Next to the work folder, where nothing that runs could have placed a link.
    const isShared = trustAllows(trust.level, "read-working-directory");
    const workDir = isShared
      ? world.workDir
      : join(dirname(world.workDir), "scripts", folderName(skill.name));
    mkdirSync(workDir, { recursive: true, mode: 0o700 });
    const conversation = parent.memory.trust;
    conversation.note(skill.name, skill.trust.level); // Its output is read in the conversation.
    const served = { runId, host, capabilityNotes, questions, durable, parent, conversation, redactor };
    const place = await openRunPlace({ ...served, skill, trust: trust.level, workDir, request: asked });
    const unreachable = refuseWithoutSocket(skill, place.sandbox);
    if (unreachable) {
      await place.close();
      return { ok: false, message: refusalText(unreachable) };
    }
    return {
      ok: true,
      world: place.world,
      sandbox: place.sandbox,
      env: deliverValues(prepared, parent.memory),
      async close() {
        for (const domain of place.reached) context.place.reached.add(domain);
        await place.close();
      },
    };
  };
}

/** The tools every run has. Those that start another skill get the context when they are called. */
export function ownTools(
  { host, request, questions, durable }: RunGiven,
  { network, sandbox }: RunPlace,
  memory: ConversationMemory,
  context: () => RunContext,
  prepared?: PreparedInvocation,
): readonly Tool[] {
  return runTools({
    host,
    request: queueQuestions(request, questions),
    ask: durable && ((question, call) => askUserDurably(question, call, durable)),
    skill: prepared?.skill,
    trust: prepared?.trust.level ?? "trusted",
    network,
    backend: sandbox?.backend,
    invoke: (child, call) => startChild(context(), child, call),
    openScript: createScriptPlaces(context),
    conversation: memory.trust,
  });
}
