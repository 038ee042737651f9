/**
 * How the commands of a run reach what its skill declares: a socket of the run's own, and for each command a token that
 * ends with it. Opened by the first command; nothing is opened for a skill that declares nothing or is not trusted.
 */
import { join } from "node:path";
import type { CapabilityCaller } from "../capabilities/capability.ts";
import type { CapabilitySocket } from "../capabilities/rpc/serve-capabilities.ts";
import type { CallerTokens } from "../capabilities/tokens/caller-tokens.ts";
import { toCapabilityCaller } from "../invoke/capability-caller.ts";
import type { ConversationTrust } from "../invoke/conversation-trust.ts";
import { seenCapabilitySocket } from "../sandbox/capability-socket.ts";
import { refuse } from "../sandbox/check-command.ts";
import type { CommandOutcome, Sandbox, SandboxCommand } from "../sandbox/sandbox.ts";
import type { Redactor } from "../secrets/redaction.ts";
import type { Skill, Trust } from "../skill/skill.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import { type QuestionQueue, queueConfirmation } from "./approvals.ts";
import type { CapabilityNotes } from "./capability-notes.ts";
import { rawMessageOf } from "./raw-message.ts";
import type { RunCapabilities } from "./run-capabilities.ts";
import type { RunHost } from "./run-host.ts";
import type { RunRequest } from "./run-request.ts";

/** What a place needs to know of the run, or the script, that it serves. */
export interface ServedRun {
  readonly runId: string;
  /** Learns the tokens, so that none is told by what a command prints. */
  readonly redactor: Redactor;
  readonly capabilityNotes: CapabilityNotes;
  /** Where questions to a person wait. */
  readonly questions: QuestionQueue;
}

/** What of a request decides for whom something is performed, and who is asked before a change. */
export type CapabilityRequest = Pick<
  RunRequest,
  "caller" | "confirm" | "userMessage" | "message" | "arguments" | "source"
>;

export interface CapabilitiesInput {
  readonly sandbox: Sandbox;
  readonly skill: Skill;
  /** Already lowered to its caller's. */
  readonly trust: Trust;
  readonly host: Pick<RunHost, "capabilities" | "places" | "config">;
  readonly request: CapabilityRequest;
  readonly run: ServedRun;
  /** Once an untrusted text is in it, nothing is performed any more. */
  readonly conversation?: ConversationTrust | undefined;
}

export interface OpenCapabilities {
  readonly sandbox: Sandbox;
  /** Calls under way are cancelled. */
  close(): Promise<void>;
}

export function openCapabilities(input: CapabilitiesInput): OpenCapabilities {
  const { sandbox, skill, host, trust } = input;
  const { capabilities } = host;
  const caller = describeCaller(skill, input.request, input.run.runId);
  const isAllowed = skill.manifest.capabilities.length > 0 && trustAllows(trust, "use-capabilities");
  if (!isAllowed || !capabilities || !caller) return { sandbox, close: () => Promise.resolve() };

  let opened: Promise<Opened> | undefined;
  const open = (): Promise<Opened> =>
    openSocket(input, capabilities).catch((fault: unknown) => {
      opened = undefined; // The next command tries again.
      throw fault;
    });
  const admit = async (command: SandboxCommand): Promise<Admitted> => {
    opened ??= open();
    const { tokens, socket } = await opened;
    const { token, revoke } = await tokens.mint(caller, command.limits.timeoutMs);
    input.run.redactor.add({ name: "METIER_CONTEXT_TOKEN", value: signatureOf(token) });
    return { command: withToken(command, token, socket.socketPath, input), revoke };
  };
  return {
    sandbox: { ...sandbox, run: (command) => runAdmitted(sandbox, () => admit(command)) },
    async close() {
      const door = await opened?.catch(() => undefined); // The command that opened it has said why it failed.
      await door?.socket.close();
    },
  };
}

interface Admitted {
  readonly command: SandboxCommand;
  revoke(): void;
}

/** A command that cannot have what its skill declares is not run without it. */
async function runAdmitted(sandbox: Sandbox, admit: () => Promise<Admitted>): Promise<CommandOutcome> {
  let admitted: Admitted;
  try {
    admitted = await admit();
  } catch (fault) {
    const reason = fault instanceof Error ? fault.message : String(fault);
    return refuse(`It cannot be given the capabilities of its skill, so it is not run: ${reason}`);
  }
  try {
    return await sandbox.run(admitted.command);
  } finally {
    admitted.revoke();
  }
}

interface Opened {
  readonly socket: CapabilitySocket;
  /** Their keys are this run's own, and end with it. */
  readonly tokens: CallerTokens;
}

async function openSocket(input: CapabilitiesInput, capabilities: RunCapabilities): Promise<Opened> {
  const { request, host, run, conversation } = input;
  const { openCapabilitySocket } = await import("../capabilities/rpc/serve-capabilities.ts");
  const { createCallerTokens } = await import("../capabilities/tokens/caller-tokens.ts");
  const tokens = createCallerTokens();
  const confirm = request.confirm ?? capabilities.confirm;
  const broker = await capabilities.broker();
  const socket = await openCapabilitySocket({
    broker: { ...broker, invoke: (...call) => run.capabilityNotes.follow(broker.invoke(...call)) },
    tokens,
    runId: run.runId,
    home: join(host.places.state, "capabilities", "sockets"),
    ...(confirm && { confirm: queueConfirmation(confirm, run.questions) }),
    onAudit: (entry) => run.capabilityNotes.note(entry),
    onFault: (fault) => run.capabilityNotes.noteFault(fault),
    whyHeld: () => whyHeld(conversation?.taintedBy),
  });
  return { socket, tokens };
}

/** What a token says; what a command claims about itself counts for nothing. */
export function describeCaller(
  skill: Skill,
  request: CapabilityRequest,
  runId: string,
): CapabilityCaller | undefined {
  const caller = toCapabilityCaller(request.caller);
  const message = rawMessageOf(request);
  return (
    caller && {
      ...caller,
      ...(message !== undefined && { currentUserMessage: message }),
      runId,
      skill: skill.name,
      declared: skill.manifest.capabilities,
    }
  );
}

/** The system behind the preset has names of its own for the same things. */
function withToken(
  command: SandboxCommand,
  token: string,
  socketPath: string,
  { sandbox, host }: CapabilitiesInput,
): SandboxCommand {
  const seen = seenCapabilitySocket(sandbox.backend, socketPath) ?? "";
  const isAsh = host.config().config.skills.preset === "ash";
  return {
    ...command,
    capabilitySocket: socketPath,
    env: {
      ...command.env,
      METIER_CONTEXT_TOKEN: token,
      METIER_RPC_SOCKET: seen,
      ...(isAsh && { ASH_CONTEXT_TOKEN: token, ASH_RPC_SOCKET: seen }),
    },
  };
}

/** Without it a token is worth nothing; and it is short, while there is a token for each command of a run. */
function signatureOf(token: string): string {
  return token.slice(token.lastIndexOf(".") + 1);
}

function whyHeld(untrusted: string | undefined): string | undefined {
  if (untrusted === undefined) return undefined;
  return `The untrusted skill \`${untrusted}\` is in this conversation, so nothing is performed for it any more. Use the skill in a new conversation.`;
}
