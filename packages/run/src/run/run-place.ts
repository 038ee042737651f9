/**
 * Where the processes of a run are: what they see of the machine, what holds them, which domains and which capabilities
 * they reach. Decided the same way for a run, a turn of a chat, a script and a hook; open until `close`.
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

/** `workDir` exists, and belongs to this use alone. */
interface RunPlaceInput extends Given, Partial<Pick<RunGiven, "parent" | "isDry">> {
  /** Absent in a conversation of the user's own. */
  readonly skill?: Skill | undefined;
  /** Already lowered to its caller's. */
  readonly trust: Trust;
  readonly redactor: Redactor;
  /**
   * Of the conversation its commands serve: an untrusted text in it ends their network and their capabilities, and what
   * needs trust to hold.
   */
  readonly conversation?: ConversationTrust | undefined;
  /** Folders of other skills whose instructions are followed already; `show` adds to it. */
  readonly shown?: Set<string>;
}

export interface RunPlace {
  /** As it is now. */
  readonly world: World;
  /** Absent where none holds here: then nothing is executed. */
  readonly sandbox: Sandbox | undefined;
  /** Granted domains. */
  readonly network: readonly string[];
  /** Hosts that its processes have reached so far; scripts of other skills add theirs. */
  readonly reached: Set<string>;
  /** As the skill and its own table in the config write it. */
  readonly declared: SandboxUse;
  /** What of that holds, beyond the folders that every run has; paths are real. */
  readonly granted: SandboxUse;
  /** As it is now. */
  readonly diagnostics: readonly Diagnostic[];
  /** The folder of another skill whose instructions are followed: it can be read from now on, where trust allows. */
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
  if (isDry) void first.world.masked; // A plan says what a run would meet: look now.
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

/** In a mere plan they are named as a run would have them; nothing is made. */
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

/** What a run sees beside the folders that are asked for. */
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
 * Some backends are for what the user trusts only: they hold less than the system does. A conversation starts trusted, so
 * there each command asks again; after an untrusted text nothing is run that way.
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
        `The untrusted \`${taintedBy}\` is in this conversation, so no command runs ${needed.how}.`,
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
 * How the processes of a run reach granted domains: the allow-list proxy, for as long as the run lasts, and a sandbox
 * whose every command has it. Nothing is opened where nothing is granted, and nothing goes out any more once an untrusted
 * text is in the conversation.
 */
async function openEgress(
  sandbox: Sandbox,
  network: readonly string[],
  { host, conversation, durable }: RunPlaceInput,
): Promise<Egress> {
  const reached = new Set<string>(durable?.reached);
  // The others give no network at all; or all of it, which a proxy would only pretend to hold back.
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

/** `web_fetch` then asks the user for each address; nobody can be asked for what a process sends. */
function whyHeld(untrusted: string | undefined): string | undefined {
  if (untrusted === undefined) return undefined;
  return `The untrusted skill \`${untrusted}\` is in this conversation, so commands reach no network any more. Use \`web_fetch\`, for which the user is asked.`;
}
