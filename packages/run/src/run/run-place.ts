/**
 * Where a run's processes live: what they see of the machine, their sandbox, and the domains and capabilities they
 * reach. Decided the same way for a run, a chat turn, a script and a hook; open until `close`.
 */
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import {
  type BuiltWorld,
  buildWorld,
  refuseCommand,
  type Sandbox,
  type SandboxBackend,
  type World,
} from "@metier/sandbox";
import { openEgressProxy } from "@metier/sandbox/egress";
import type { Redactor } from "@metier/sandbox/secrets";
import { hasFolder, type Skill, type Trust } from "@metier/skills";
import { type TrustedThing, trustAllows } from "@metier/skills/trust";
import { recordReach } from "../durable/acting-call.ts";
import type { ConversationTrust } from "../invoke/conversation-trust.ts";
import { dataOwner } from "../invoke/invocation.ts";
import { grantedPaths, grantReach, reportMissing } from "./granted-reach.ts";
import { type DataFolders, dataFolders, type FoundData, makeDataFolders } from "./kept-files.ts";
import { openCapabilities } from "./open-capabilities.ts";
import { meetNeeds, NO_NEEDS, type SkillNeeds } from "./packages/prepare-environments.ts";
import type { RunGiven } from "./run-context.ts";
import type { SandboxUse } from "./run-result.ts";
import { sandboxFor } from "./run-secrets.ts";

type Given = Pick<
  RunGiven,
  "runId" | "host" | "request" | "workDir" | "questions" | "capabilityNotes" | "durable"
>;

/** `workDir` exists, and belongs only to this use. */
interface RunPlaceInput extends Given, Partial<Pick<RunGiven, "parent" | "isDry">> {
  /** Absent in the user's own conversation. */
  readonly skill?: Skill | undefined;
  /** Already lowered to its caller's. */
  readonly trust: Trust;
  readonly redactor: Redactor;
  /**
   * Of the conversation its commands serve: untrusted text in it ends their network, their capabilities, and any
   * backend that needs trust.
   */
  readonly conversation?: ConversationTrust | undefined;
  /** Folders of other skills already followed; `show` adds to it. */
  readonly shown?: Set<string>;
}

export interface RunPlace {
  /** As it is now. */
  readonly world: World;
  /** Absent if none is suitable: then nothing is executed. */
  readonly sandbox: Sandbox | undefined;
  /** Granted domains. */
  readonly network: readonly string[];
  /** Hosts that its processes have reached so far; scripts of other skills add theirs. */
  readonly reached: Set<string>;
  /** As written in the skill and its own config table. */
  readonly declared: SandboxUse;
  /** What of that is granted, beyond the folders every run has; paths are real. */
  readonly granted: SandboxUse;
  /** As it is now. */
  readonly diagnostics: readonly Diagnostic[];
  /** The folder of another followed skill: it can be read from now on, if trust allows. */
  show(folder: string): void;
  close(): Promise<void>;
}

export async function openRunPlace(input: RunPlaceInput): Promise<RunPlace> {
  const { skill, trust, host, parent, conversation, isDry = false, shown = new Set() } = input;
  const config = host.config();
  const data = findData(input);
  const { sandbox, diagnostics } = await sandboxFor(trust, host);
  const { signal, onProgress } = input.request;
  const needs =
    skill && !isDry ? await meetNeeds(skill, host, { trust, sandbox, signal, onProgress }) : NO_NEEDS;
  const { places } = host;
  const cwd = host.cwd ?? host.base;
  const reach = grantReach({ trust, config, skill, cwd, places, caller: parent?.network });
  const seen = { data: data.folders, placed: needs.placed, granted: reach.granted };
  const first = lookAround(input, shown, seen);
  if (isDry) void first.world.masked; // A plan shows what a run would meet: check now.
  let built = first;
  const missing = skill ? reportMissing(skill, reach.missing, first.world, places.configFile) : [];
  const { network } = reach.granted;
  const held = sandbox && conversation ? holdToTrust(sandbox, conversation) : sandbox;
  const egress = held && (await openEgress(held, isDry ? [] : network, input));
  const capable =
    egress && skill && !isDry ? openCapabilities({ ...input, skill, sandbox: egress.sandbox }) : undefined;
  return {
    get world() {
      return built.world;
    },
    sandbox: capable?.sandbox ?? egress?.sandbox,
    network,
    reached: egress?.reached ?? new Set(),
    // The user's own conversation declares nothing: it has what the config gives to any trusted skill.
    declared: skill ? reach.declared : { network, read: [], write: [] },
    granted: skill ? withinWorld(reach.granted, first.world) : reach.granted,
    get diagnostics() {
      return [...data.diagnostics, ...built.diagnostics, ...missing, ...diagnostics, ...needs.diagnostics];
    },
    show(folder) {
      if (!trustAllows(trust, "read-working-directory")) return;
      shown.add(folder);
      built = lookAround(input, shown, seen);
    },
    async close() {
      await capable?.close();
      await egress?.close();
    },
  };
}

/** In a plan they are named as a run would have them, but not created. */
function findData({ skill, trust, host, request, isDry }: RunPlaceInput): FoundData {
  if (skill === undefined) return { diagnostics: [] };
  const owner = { skill, trust, user: dataOwner(request.caller) };
  if (isDry) return { folders: dataFolders(host.places, owner), diagnostics: [] };
  return makeDataFolders(host.places, owner);
}

function withinWorld({ network, read, write }: SandboxUse, { readable, writable }: World): SandboxUse {
  return {
    network,
    read: read.filter((path) => readable.includes(path)),
    write: write.filter((path) => writable.includes(path)),
  };
}

/** What a run sees besides the requested folders. */
interface Seen {
  readonly data: DataFolders | undefined;
  readonly placed: SkillNeeds["placed"];
  readonly granted: SandboxUse;
}

function lookAround(
  { skill, trust, host, workDir, request, parent }: RunPlaceInput,
  shown: ReadonlySet<string>,
  { data, placed, granted }: Seen,
): BuiltWorld {
  return buildWorld({
    trust,
    cwd: host.cwd,
    workDir,
    write: request.write ?? false,
    places: host.places,
    privateFiles: [...host.configFiles(), ...(request.privateFiles ?? [])],
    otherSkills: [...shown],
    skillDir: skill && hasFolder(skill) ? skill.directory : undefined,
    placed: placed.length > 0 ? placed : undefined,
    ...grantedPaths(granted),
    dataDir: data?.own,
    globalDataDir: data?.global,
    within: parent?.world,
  });
}

const NEEDS_TRUST: Partial<Record<SandboxBackend, { readonly power: TrustedThing; readonly how: string }>> = {
  none: { power: "run-scripts-unsandboxed", how: "without a sandbox" },
  "just-bash": { power: "use-interpreted-shell", how: "in an interpreted shell" },
};

/**
 * Some backends are only for trusted code: they isolate less than the system does. A conversation starts trusted, so
 * each command checks again; after untrusted text, nothing runs that way.
 */
export function holdToTrust(sandbox: Sandbox, trust: ConversationTrust): Sandbox {
  const needed = NEEDS_TRUST[sandbox.backend];
  if (!needed || trustAllows("untrusted", needed.power)) return sandbox;
  return {
    ...sandbox,
    async run(command) {
      const { taintedBy } = trust;
      if (taintedBy === undefined) return sandbox.run(command);
      return refuseCommand(
        `The untrusted \`${taintedBy}\` is in this conversation, so commands cannot run ${needed.how}.`,
      );
    },
  };
}

interface Egress {
  readonly sandbox: Sandbox;
  /** Hosts that processes have reached so far. */
  readonly reached: Set<string>;
  close(): Promise<void>;
}

/**
 * How a run's processes reach granted domains: the allow-list proxy, for the run's lifetime, and a sandbox that routes
 * every command through it. Nothing is opened if nothing is granted, and nothing goes out once the conversation
 * contains untrusted text.
 */
async function openEgress(
  sandbox: Sandbox,
  network: readonly string[],
  { host, conversation, durable }: RunPlaceInput,
): Promise<Egress> {
  const reached = new Set<string>(durable?.reached);
  // The other backends give no network at all; or all of it, which a proxy would only pretend to restrict.
  if (network.length === 0 || sandbox.backend !== "bubblewrap") {
    return { sandbox, reached, close: () => Promise.resolve() };
  }
  const { socketPath, close } = await openEgressProxy({
    network,
    home: join(host.places.state, "egress"),
    whyHeld: () => whyHeld(conversation?.taintedBy),
    async onReach(host) {
      if (durable) await recordReach(durable, host);
      reached.add(host);
    },
  });
  return {
    sandbox: { ...sandbox, run: (command) => sandbox.run({ egressSocket: socketPath, ...command }) },
    reached,
    close,
  };
}

/** `web_fetch` then asks the user for each address; a process's traffic can't be asked about. */
function whyHeld(untrusted: string | undefined): string | undefined {
  if (untrusted === undefined) return undefined;
  return `The untrusted skill \`${untrusted}\` is in this conversation, so commands have no network anymore. Use \`web_fetch\`, which asks the user.`;
}
