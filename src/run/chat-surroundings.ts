/**
 * What the main agent of a chat sees and may do in one turn: the user's own folder, read-only unless said otherwise, and
 * the folders of skills it follows. Decided for each turn anew, since the config may have changed.
 */
import { mkdirSync } from "node:fs";
import type { Reach } from "../config/config.ts";
import { hasFolder } from "../disclose/skill-folder.ts";
import { runFolder } from "../events/run-log.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import { type BuiltWorld, buildWorld } from "../sandbox/build-world.ts";
import { chooseSandbox } from "../sandbox/choose-sandbox.ts";
import { findPrograms } from "../sandbox/programs.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { World } from "../sandbox/world.ts";
import type { ToolLists } from "../tools/policy-lists.ts";
import type { ChatOptions } from "./chat.ts";
import { type ChatPolicy, createChatPolicy } from "./chat-policy.ts";
import type { ChatState } from "./chat-turn.ts";
import { configFilesOf } from "./config-files.ts";
import { grantedPaths, grantReach } from "./granted-reach.ts";
import { holdToTrust } from "./hold-to-trust.ts";
import { openEgress } from "./open-egress.ts";
import { skillLists } from "./run-policy.ts";
import { programTools } from "./run-tools.ts";

export interface Surroundings {
  /** As it is now. */
  readonly world: World;
  readonly sandbox?: Sandbox;
  readonly network: readonly string[];
  /** What any trusted skill has. */
  readonly granted: Reach;
  /** Hosts that its commands have reached so far. */
  readonly reached: ReadonlySet<string>;
  readonly policy: ChatPolicy;
  readonly diagnostics: readonly Diagnostic[];
  /** The instructions of a skill are in the conversation now. */
  activate(prepared: PreparedInvocation): void;
  /** Ends what was opened for the turn. */
  close(): Promise<void>;
}

export async function surroundTurn(
  state: ChatState,
  options: ChatOptions,
  lists: readonly ToolLists[],
): Promise<Surroundings> {
  const { host, memory } = state;
  const { config } = host.config();
  const { granted } = grantReach({ trust: "trusted", config, cwd: host.cwd, places: host.places });
  const { network } = granted;
  const look = (): BuiltWorld => lookAround(state, options, granted);
  let seen = look();
  const { sandbox, diagnostics } = await chooseSandbox({
    backend: config.sandbox.backend,
    trust: "trusted",
    environment: host.environment,
    programs: findPrograms(config.sandbox.programs, host.places, host.environment),
    limits: config.sandbox,
  });
  const egress =
    sandbox &&
    (await openEgress({
      sandbox: holdToTrust(sandbox, memory.trust),
      network,
      places: host.places,
      conversation: memory.trust,
    }));
  const policy = createChatPolicy({
    lists,
    config: config.tools,
    policy: config.policyTools,
    cwd: seen.world.cwd,
    isPreApprovalStopped: () => memory.trust.taintedBy !== undefined,
    unapproved: () => memory.trust.unapproved,
    hostTools: programTools(host, options).map(({ name }) => name),
  });
  return {
    get world() {
      return seen.world;
    },
    ...(egress && { sandbox: egress.sandbox }),
    network,
    granted,
    reached: egress?.reached ?? new Set(),
    policy,
    get diagnostics() {
      return [...seen.diagnostics, ...diagnostics, ...policy.diagnostics];
    },
    activate(prepared) {
      policy.activate(skillLists(prepared));
      noteFolder(prepared, state);
      seen = look();
    },
    close: async () => egress?.close(),
  };
}

/** The files of a skill whose instructions are in the conversation can be read, and its scripts started. */
export function noteFolder(
  { skill }: PreparedInvocation,
  { skillFolders }: Pick<ChatState, "skillFolders">,
): void {
  if (hasFolder(skill)) skillFolders.add(skill.directory);
}

function lookAround(
  { host, workRunId, skillFolders }: ChatState,
  { write = false }: ChatOptions,
  granted: Reach,
): BuiltWorld {
  const { work } = runFolder(host.places, workRunId);
  mkdirSync(work, { recursive: true, mode: 0o700 });
  return buildWorld({
    trust: "trusted",
    cwd: host.cwd,
    workDir: work,
    write,
    places: host.places,
    privateFiles: configFilesOf(host.config()),
    otherSkills: [...skillFolders],
    ...grantedPaths(granted),
  });
}
