/**
 * What the main agent of a chat sees and may do in one turn: the user's own folder, read-only unless said otherwise, and
 * the folders of skills it follows. Decided for each turn anew, since the config may have changed.
 */
import { mkdirSync } from "node:fs";
import { hasFolder } from "../disclose/skill-folder.ts";
import { runFolder } from "../events/run-log.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { ConversationTrust } from "../invoke/conversation-trust.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import { type BuiltWorld, buildWorld } from "../sandbox/build-world.ts";
import { chooseSandbox } from "../sandbox/choose-sandbox.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { World } from "../sandbox/world.ts";
import type { ToolLists } from "../tools/policy-lists.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import type { ChatOptions } from "./chat.ts";
import { type ChatPolicy, createChatPolicy } from "./chat-policy.ts";
import type { ChatState } from "./chat-turn.ts";
import { configFilesOf } from "./config-files.ts";
import { grantedNetwork } from "./granted-network.ts";
import { skillLists } from "./run-policy.ts";
import { programTools } from "./run-tools.ts";

export interface Surroundings {
  /** As it is now. */
  readonly world: World;
  readonly sandbox?: Sandbox;
  readonly network: readonly string[];
  readonly policy: ChatPolicy;
  readonly diagnostics: readonly Diagnostic[];
  /** The instructions of a skill are in the conversation now. */
  activate(prepared: PreparedInvocation): void;
}

export async function surroundTurn(
  state: ChatState,
  options: ChatOptions,
  lists: readonly ToolLists[],
): Promise<Surroundings> {
  const { host, memory } = state;
  const { config } = host.config();
  const look = (): BuiltWorld => lookAround(state, options);
  let seen = look();
  const { sandbox, diagnostics } = await chooseSandbox({
    backend: config.sandbox.backend,
    trust: "trusted",
    environment: host.environment,
  });
  const policy = createChatPolicy({
    lists,
    config: config.tools,
    policy: config.policyTools,
    cwd: seen.world.cwd,
    isPreApprovalStopped: () => memory.trust.taintedBy !== undefined,
    hostTools: programTools(host, options).map(({ name }) => name),
  });
  return {
    get world() {
      return seen.world;
    },
    ...(sandbox && { sandbox: holdUnsandboxed(sandbox, memory.trust) }),
    network: grantedNetwork("trusted", config, undefined, undefined),
    policy,
    get diagnostics() {
      return [...seen.diagnostics, ...diagnostics, ...policy.diagnostics];
    },
    activate(prepared) {
      policy.activate(skillLists(prepared));
      noteFolder(prepared, state);
      seen = look();
    },
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
  });
}

/** Where the user wants no sandbox, that holds for what they trust: nothing is run that way after an untrusted text. */
function holdUnsandboxed(sandbox: Sandbox, trust: ConversationTrust): Sandbox {
  if (sandbox.backend !== "none") return sandbox;
  return {
    backend: "none",
    async run(command) {
      const { taintedBy } = trust;
      if (taintedBy === undefined || trustAllows("untrusted", "run-scripts-unsandboxed")) {
        return sandbox.run(command);
      }
      const reason = `The untrusted \`${taintedBy}\` is in this conversation, so no command runs without a sandbox.`;
      return { ended: "refused", stdout: "", stderr: "", droppedBytes: 0, durationMs: 0, reason };
    },
  };
}
