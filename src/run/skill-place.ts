/**
 * Where the processes of one skill run: what they see of the machine, what holds them, which domains and which
 * capabilities they reach. Decided the same way for a run, a script and a hook; open until `close`.
 */
import { hasFolder } from "../disclose/skill-folder.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { ConversationTrust } from "../invoke/conversation-trust.ts";
import { type BuiltWorld, buildWorld } from "../sandbox/build-world.ts";
import { chooseSandbox } from "../sandbox/choose-sandbox.ts";
import { findPrograms } from "../sandbox/programs.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { World } from "../sandbox/world.ts";
import type { Skill, Trust } from "../skill/skill.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import { configFilesOf } from "./config-files.ts";
import { type DataFolders, makeDataFolders, nameDataFolders } from "./data-folder.ts";
import { grantedPaths, grantReach, reportMissing } from "./granted-reach.ts";
import { holdToTrust } from "./hold-to-trust.ts";
import { type CapabilityRequest, openCapabilities, type ServedRun } from "./open-capabilities.ts";
import { openEgress } from "./open-egress.ts";
import type { RunHost } from "./run-host.ts";
import type { RunParent } from "./run-parent.ts";
import type { RunRequest } from "./run-request.ts";
import type { SandboxUse } from "./run-result.ts";
import { meetNeeds, NO_NEEDS, type SkillNeeds } from "./skill-needs.ts";

export interface SkillPlaceInput {
  readonly skill: Skill;
  /** Already lowered to its caller's. */
  readonly trust: Trust;
  readonly host: Pick<RunHost, "places" | "cwd" | "environment" | "config" | "capabilities">;
  readonly run: ServedRun;
  /** Exists, and belongs to this use alone. */
  readonly workDir: string;
  readonly request: Pick<RunRequest, "write" | "privateFiles" | "signal" | "onProgress"> & CapabilityRequest;
  readonly parent?: Pick<RunParent, "world" | "network">;
  /**
   * Of the conversation its commands serve: an untrusted text in it ends their network and their capabilities, and what
   * needs trust to hold.
   */
  readonly conversation?: ConversationTrust;
  /** Only to see what would happen: nothing is started. */
  readonly isDry?: boolean;
}

export interface SkillPlace {
  /** As it is now. */
  readonly world: World;
  /** Absent where none holds here: then nothing is executed. */
  readonly sandbox?: Sandbox;
  /** Granted domains. */
  readonly network: readonly string[];
  /** Hosts that its processes have reached so far. */
  readonly reached: ReadonlySet<string>;
  /** As the skill and its own table in the config write it. */
  readonly declared: SandboxUse;
  /** What of that holds, beyond the folders that every run has; paths are real. */
  readonly granted: SandboxUse;
  readonly diagnostics: readonly Diagnostic[];
  /** The folder of another skill whose instructions are followed: it can be read from now on, where trust allows. */
  show(folder: string): void;
  close(): Promise<void>;
}

export async function openSkillPlace(input: SkillPlaceInput): Promise<SkillPlace> {
  const { skill, trust, host, parent } = input;
  const { config } = host.config();
  const shown = new Set<string>();
  const { userId, isLocal = false } = input.request.caller ?? {};
  const owner = { skill, trust, user: isLocal ? undefined : userId };
  const data = input.isDry ? nameDataFolders(host.places, owner) : makeDataFolders(host.places, owner);
  const { sandbox, diagnostics } = await chooseSandbox({
    backend: config.sandbox.backend,
    trust,
    environment: host.environment,
    programs: findPrograms(config.sandbox.programs, host.places, host.environment),
    limits: config.sandbox,
  });
  const needs = input.isDry ? NO_NEEDS : await meetNeeds({ ...input, ...(sandbox && { sandbox }) });
  const reach = grantReach({
    trust,
    config,
    skill,
    cwd: host.cwd,
    places: host.places,
    caller: parent?.network,
  });
  const seen = { data: data.folders, placed: needs.placed, granted: reach.granted };
  const built = lookAround(input, shown, seen);
  let { world } = built;
  const { network, read, write } = reach.granted;
  const { conversation } = input;
  const held = sandbox && conversation ? holdToTrust(sandbox, conversation) : sandbox;
  const reachable = input.isDry ? [] : network;
  const egress =
    held && (await openEgress({ sandbox: held, network: reachable, places: host.places, conversation }));
  const capable = egress && !input.isDry && openCapabilities({ ...input, sandbox: egress.sandbox });
  return {
    get world() {
      return world;
    },
    ...(egress && { sandbox: (capable || egress).sandbox }),
    network,
    reached: egress?.reached ?? new Set(),
    declared: reach.declared,
    granted: {
      network,
      read: read.filter((path) => built.world.readable.includes(path)),
      write: write.filter((path) => built.world.writable.includes(path)),
    },
    diagnostics: [
      ...data.diagnostics,
      ...built.diagnostics,
      ...reportMissing(skill, reach.missing, built.world, host.places.configFile),
      ...diagnostics,
      ...needs.diagnostics,
    ],
    show(folder) {
      if (!trustAllows(trust, "read-working-directory")) return;
      shown.add(folder);
      ({ world } = lookAround(input, shown, seen));
    },
    async close() {
      if (capable) await capable.close();
      await egress?.close();
    },
  };
}

/** What a run sees beside the folders that are asked for. */
interface Seen {
  readonly data: DataFolders | undefined;
  readonly placed: SkillNeeds["placed"];
  readonly granted: SandboxUse;
}

function lookAround(
  { skill, trust, host, workDir, request, parent }: SkillPlaceInput,
  shown: ReadonlySet<string>,
  { data, placed, granted }: Seen,
): BuiltWorld {
  return buildWorld({
    trust,
    cwd: host.cwd,
    workDir,
    write: request.write ?? false,
    places: host.places,
    privateFiles: [...configFilesOf(host.config()), ...(request.privateFiles ?? [])],
    otherSkills: [...shown],
    ...(hasFolder(skill) && { skillDir: skill.directory }),
    ...(placed.length > 0 && { placed }),
    ...grantedPaths(granted),
    ...(data && { dataDir: data.own, globalDataDir: data.global }),
    ...(parent?.world && { within: parent.world }),
  });
}
