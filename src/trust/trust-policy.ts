/**
 * What trust decides: the one table that every later stage asks before it does something for a skill. A new power
 * gets a row here first; nothing else compares trust levels.
 */
import type { Trust } from "../skill/skill.ts";

/** What may need trust. */
export type TrustedThing =
  | "activate-inline"
  | "run-isolated"
  | "restrict-tools"
  | "pre-approve-tools"
  | "receive-secrets"
  | "receive-user-values"
  | "use-network"
  | "read-working-directory"
  | "write-working-directory"
  | "fork-by-own-word"
  | "register-hooks"
  | "load-toolsets"
  | "use-capabilities"
  | "use-interpreted-shell"
  | "run-scripts-unsandboxed"
  | "install-system-packages"
  | "build-environment"
  | "run-dynamic-shell-context"
  | "be-used-despite-findings"
  | "execute-from-server"
  | "shadow-trusted-skill";

export interface TrustRule {
  readonly trusted: boolean;
  readonly untrusted: boolean;
  /** Why the answer is so, in one line. */
  readonly reason: string;
}

export const TRUST_POLICY: Readonly<Record<TrustedThing, TrustRule>> = {
  "activate-inline": {
    trusted: true,
    untrusted: true,
    reason: "Instructions are text: the host's own tool questions still stand between them and any act.",
  },
  "run-isolated": {
    trusted: true,
    untrusted: true,
    reason: "The sandbox and the rows below hold whatever the skill says.",
  },
  "restrict-tools": {
    trusted: true,
    untrusted: true,
    reason: "Anyone may ask for less: `allowed-tools` and `disallowed-tools` narrow an isolated run.",
  },
  "pre-approve-tools": {
    trusted: true,
    untrusted: false,
    reason: "A skill that nobody vouched for must not answer the user's tool questions by `allowed-tools`.",
  },
  "receive-secrets": {
    trusted: true,
    untrusted: false,
    reason: "A secret given to unknown code is a secret given away.",
  },
  "receive-user-values": {
    trusted: true,
    untrusted: false,
    reason:
      "Values of the user's config go to skills the user knows; a project's skill needs a grant for them.",
  },
  "use-network": {
    trusted: true,
    untrusted: false,
    reason: "Without a way out, nothing that was read can be sent.",
  },
  "read-working-directory": {
    trusted: true,
    untrusted: false,
    reason: "An untrusted run sees its skill folder and its work folder only.",
  },
  "write-working-directory": {
    trusted: true,
    untrusted: false,
    reason: "What an untrusted run writes stays in its work folder until someone takes it out.",
  },
  "fork-by-own-word": {
    trusted: true,
    untrusted: false,
    reason: "`context: fork` and `agent` start a loop of their own; an untrusted skill may not ask for one.",
  },
  "register-hooks": {
    trusted: true,
    untrusted: false,
    reason: "A hook runs without being called.",
  },
  "load-toolsets": {
    trusted: true,
    untrusted: false,
    reason: "A toolset is code that starts with the run, before the model or anyone else asked for it.",
  },
  "use-capabilities": {
    trusted: true,
    untrusted: false,
    reason:
      "What the user's accounts hold, and what can be done in their name, is for skills the user knows.",
  },
  "use-interpreted-shell": {
    trusted: true,
    untrusted: false,
    reason: "Its commands are held by an interpreter and by Node, not by the system: one fault is a way out.",
  },
  "run-scripts-unsandboxed": {
    trusted: true,
    untrusted: false,
    reason:
      "Outside the sandbox a script can do whatever the user can; even then only by the user's setting.",
  },
  "install-system-packages": {
    trusted: true,
    untrusted: false,
    reason: "A package is installed with the rights of root, for everyone on the machine.",
  },
  "build-environment": {
    trusted: true,
    untrusted: false,
    reason: "Installing packages reaches a registry, and what is installed runs beside the skill.",
  },
  "run-dynamic-shell-context": {
    trusted: true,
    untrusted: false,
    reason: "Commands in the text run before anyone has read it.",
  },
  "be-used-despite-findings": {
    trusted: true,
    untrusted: false,
    reason: "Whoever trusts a skill has looked at it; of others the scan is the only look there was.",
  },
  "execute-from-server": {
    trusted: true,
    untrusted: false,
    reason: "What an MCP server sends runs nothing here, not in the sandbox either, before it is approved.",
  },
  "shadow-trusted-skill": {
    trusted: true,
    untrusted: false,
    reason: "Taking the name of a trusted skill would take over its calls.",
  },
};

export function trustAllows(level: Trust, thing: TrustedThing): boolean {
  return TRUST_POLICY[thing][level];
}

/** Chaining never raises: what a skill starts, or what shares a conversation with it, has the lower of both. */
export function lowerTrust(a: Trust, b: Trust): Trust {
  return a === "trusted" && b === "trusted" ? "trusted" : "untrusted";
}
