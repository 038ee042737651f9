/**
 * How a run's commands reach what its skill declares: a socket for the run, and for each command a token that ends with
 * it. The first command opens it; nothing is opened for a skill that declares nothing or isn't trusted.
 */
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { sayFault } from "@metier/base/diagnostic";
import { presentFields } from "@metier/base/json";
import { compareText } from "@metier/base/text";
import type {
  AuditEntry,
  CallerTokens,
  CapabilityBroker,
  CapabilityCaller,
  CapabilitySocket,
} from "@metier/capabilities";
import {
  type CommandOutcome,
  refuseCommand,
  type Sandbox,
  type SandboxCommand,
  seenCapabilitySocket,
} from "@metier/sandbox";
import type { Redactor } from "@metier/sandbox/secrets";
import type { Skill, Trust } from "@metier/skills";
import { trustAllows } from "@metier/skills/trust";
import { recordActing } from "../durable/acting-call.ts";
import { keepChange } from "../durable/keep-changes.ts";
import type { CapabilityCall, CapabilityUse } from "../events/run-event.ts";
import type { ConversationTrust } from "../invoke/conversation-trust.ts";
import { toCapabilityCaller } from "../invoke/invocation.ts";
import type { RunGiven } from "./run-context.ts";
import { queueConfirmation } from "./run-policy.ts";
import { type RunCapabilities, type RunHost, type RunRequest, rawMessageOf } from "./run-request.ts";

/** The parts of a request that decide for whom something is done, and who is asked before a change. */
type CapabilityRequest = Pick<
  RunRequest,
  "caller" | "confirm" | "userMessage" | "message" | "arguments" | "source"
>;

interface CapabilitiesInput extends Pick<RunGiven, "runId" | "capabilityNotes" | "questions" | "durable"> {
  readonly sandbox: Sandbox;
  readonly skill: Skill;
  /** Already lowered to its caller's. */
  readonly trust: Trust;
  readonly host: Pick<RunHost, "capabilities" | "places" | "config">;
  readonly request: CapabilityRequest;
  /** Learns the tokens, so that no command output reveals one. */
  readonly redactor: Redactor;
  /** Once it contains untrusted text, nothing is performed anymore. */
  readonly conversation?: ConversationTrust | undefined;
}

interface OpenCapabilities {
  readonly sandbox: Sandbox;
  /** Cancels calls in progress. */
  close(): Promise<void>;
}

export function openCapabilities(input: CapabilitiesInput): OpenCapabilities {
  const { sandbox, skill, host, trust } = input;
  const { capabilities } = host;
  const caller = describeCaller(skill, input.request, input.runId);
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
    // Without its signature a token is worthless; the signature is short, and each command of a run has a token.
    const signature = token.slice(token.lastIndexOf(".") + 1);
    input.redactor.add({ name: "METIER_CONTEXT_TOKEN", value: signature });
    return { command: withToken(command, token, socket.socketPath, input), revoke };
  };
  return {
    sandbox: { ...sandbox, run: (command) => runAdmitted(sandbox, () => admit(command)) },
    async close() {
      const door = await opened?.catch(() => undefined); // The command that opened it has reported the error.
      await door?.socket.close();
    },
  };
}

interface Admitted {
  readonly command: SandboxCommand;
  revoke(): void;
}

/** A command isn't run without what its skill declares. */
async function runAdmitted(sandbox: Sandbox, admit: () => Promise<Admitted>): Promise<CommandOutcome> {
  let admitted: Admitted;
  try {
    admitted = await admit();
  } catch (fault) {
    const reason = sayFault(fault);
    return refuseCommand(
      `The command was not run, because it cannot get its skill's capabilities: ${reason}`,
    );
  }
  try {
    return await sandbox.run(admitted.command);
  } finally {
    admitted.revoke();
  }
}

interface Opened {
  readonly socket: CapabilitySocket;
  /** Their keys belong to this run and end with it. */
  readonly tokens: CallerTokens;
}

async function openSocket(input: CapabilitiesInput, capabilities: RunCapabilities): Promise<Opened> {
  const { request, host, runId, capabilityNotes, questions, conversation } = input;
  const { createCallerTokens, openCapabilitySocket } = await import("@metier/capabilities/broker");
  const tokens = createCallerTokens();
  const confirm = request.confirm ?? capabilities.confirm;
  const broker = followDurably(await capabilities.broker(), input);
  const socket = await openCapabilitySocket({
    broker: { ...broker, invoke: (...call) => capabilityNotes.follow(broker.invoke(...call)) },
    tokens,
    runId,
    home: join(host.places.state, "capabilities", "sockets"),
    confirm: confirm && queueConfirmation(confirm, questions),
    onAudit: (entry) => capabilityNotes.note(entry),
    onFault: (fault) => capabilityNotes.noteFault(fault),
    whyHeld: () => whyHeld(conversation?.taintedBy),
  });
  return { socket, tokens };
}

/** In a durable run, a change is made once; a sign-in can't be repeated. Reads may be. */
function followDurably(
  broker: CapabilityBroker,
  { durable, runId, redactor }: Pick<CapabilitiesInput, "durable" | "runId" | "redactor">,
): CapabilityBroker {
  if (durable === undefined) return broker;
  const act = <Given extends readonly unknown[], Value>(perform: (...given: Given) => Promise<Value>) => {
    return async (...given: Given): Promise<Value> => {
      await recordActing(durable);
      return perform(...given);
    };
  };
  const { begin, complete, completeCallback, poll, unlink } = broker.auth;
  return {
    ...broker,
    auth: {
      ...broker.auth,
      begin: act(begin),
      complete: act(complete),
      completeCallback: act(completeCallback),
      poll: act(poll),
      unlink: act(unlink),
    },
    invoke(caller, request, options) {
      const { keep, end } = keepChange({ durable, runId, redactor });
      return broker.invoke(caller, request, { ...options, keep }).finally(end);
    },
  };
}

/** What a token says; a command's claims about itself don't count. */
export function describeCaller(
  skill: Skill,
  request: CapabilityRequest,
  runId: string,
): CapabilityCaller | undefined {
  const caller = toCapabilityCaller(request.caller);
  const told = presentFields({ currentUserMessage: rawMessageOf(request) });
  const { name, manifest } = skill;
  return caller && { ...caller, ...told, runId, skill: name, declared: manifest.capabilities };
}

/** The system behind the preset has its own names for the same things. */
function withToken(
  command: SandboxCommand,
  token: string,
  socketPath: string,
  { sandbox, host }: CapabilitiesInput,
): SandboxCommand {
  const seen = seenCapabilitySocket(sandbox.backend, socketPath) ?? "";
  const isAsh = host.config().skills.preset === "ash";
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

function whyHeld(untrusted: string | undefined): string | undefined {
  if (untrusted === undefined) return undefined;
  return `The untrusted skill \`${untrusted}\` is in this conversation, so capabilities are off. Use the skill in a new conversation.`;
}

interface CapabilityListener {
  onCall(call: CapabilityCall): void;
  /** The host failed; commands are told no more than that. */
  onFault(message: string): void;
}

export interface CapabilityNotes {
  note(entry: AuditEntry): void;
  /** A call that an earlier process of the run reported: counted, but not reported again. */
  recall(call: Pick<CapabilityCall, "capability" | "operation" | "outcome">): void;
  /** A call in progress. */
  follow<Value>(call: Promise<Value>): Promise<Value>;
  noteFault(fault: unknown): void;
  /** Receives everything earlier, such as calls of a toolset that was loading, and everything that follows. */
  listen(listener: CapabilityListener): void;
  /**
   * Waits briefly for what is in progress, and reports nothing afterwards: the end of a run is the last line of its
   * log.
   */
  end(): Promise<void>;
  /** Sorted; empty if nothing was called. */
  list(): readonly CapabilityUse[];
}

/** A call is cancelled with its command; one that doesn't react is left behind. */
const GRACE_MS = 2000;

type Tell = (listener: CapabilityListener) => void;

/** What a run's commands requested from capabilities: each call for its log, all of them counted for its result. */
export function createCapabilityNotes(): CapabilityNotes {
  const early: Tell[] = [];
  const used = new Map<string, CapabilityUse>();
  const underWay = new Set<Promise<unknown>>();
  let tell = (what: Tell): void => void early.push(what);
  const recall: CapabilityNotes["recall"] = ({ capability, operation, outcome }) => {
    const what = presentFields({ capability, operation });
    const key = Object.values(what).join(" ");
    const { calls, failed } = used.get(key) ?? { calls: 0, failed: 0 };
    const isPerformed = outcome === "ok" || outcome === "repeat";
    used.set(key, { ...what, calls: calls + 1, failed: failed + (isPerformed ? 0 : 1) });
  };
  return {
    recall,
    note(entry) {
      const call = readEntry(entry);
      if (call === undefined) return;
      recall(call);
      tell(({ onCall }) => onCall(call));
    },
    follow(call) {
      underWay.add(call);
      return call.finally(() => underWay.delete(call));
    },
    noteFault(fault) {
      const reason = sayFault(fault);
      tell(({ onFault }) => onFault(`The capability failed on the host: ${reason}`));
    },
    listen(listener) {
      tell = (what) => what(listener);
      for (const what of early.splice(0)) what(listener);
    },
    async end() {
      if (underWay.size > 0) await settleWithin(underWay, GRACE_MS);
      tell = () => undefined;
    },
    list: () => [...used].sort(([a], [b]) => compareText(a, b)).map(([, use]) => use),
  };
}

async function settleWithin(calls: Iterable<Promise<unknown>>, graceMs: number): Promise<void> {
  const isOver = new AbortController();
  const grace = wait(graceMs, undefined, isOver).catch(() => undefined); // All have ended before.
  await Promise.race([Promise.allSettled(calls), grace]);
  isOver.abort();
}

const NOT_OVER: ReadonlySet<string> = new Set(["started", "capability_confirmation_pending"]);

/** Nothing for entries that aren't calls, have only started, or wait for a person. */
function readEntry(entry: AuditEntry): CapabilityCall | undefined {
  const { action, capability, operation, account, mutating = false, outcome, requestId, durationMs } = entry;
  if (action !== "invoke" || NOT_OVER.has(outcome)) return undefined;
  return { capability, operation, account, mutating, outcome, requestId, durationMs };
}
