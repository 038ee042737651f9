/**
 * What trust decides: the one table that every later stage asks before it does something for a skill. A new power
 * gets a row here first; nothing else compares trust levels.
 */
import type { Trust } from "../skill/skill.ts";

interface TrustRule {
  readonly trusted: boolean;
  readonly untrusted: boolean;
  /** Why the answer is so, in one line. */
  readonly reason: string;
}

const allow = (reason: string): TrustRule => ({ trusted: true, untrusted: true, reason });
const needTrust = (reason: string): TrustRule => ({ trusted: true, untrusted: false, reason });

/** By what may need trust. */
export const TRUST_POLICY = {
  "activate-inline": allow(
    "Instructions are text: the host's own tool questions still stand between them and any act.",
  ),
  "run-isolated": allow("The sandbox and the rows below hold whatever the skill says."),
  "restrict-tools": allow(
    "Anyone may ask for less: `allowed-tools` and `disallowed-tools` narrow an isolated run.",
  ),
  "pre-approve-tools": needTrust(
    "A skill that nobody vouched for must not answer the user's tool questions by `allowed-tools`.",
  ),
  "receive-secrets": needTrust("A secret given to unknown code is a secret given away."),
  "receive-user-values": needTrust(
    "Values of the user's config go to skills the user knows; a project's skill needs a grant for them.",
  ),
  "use-network": needTrust("Without a way out, nothing that was read can be sent."),
  "read-working-directory": needTrust("An untrusted run sees its skill folder and its work folder only."),
  "write-working-directory": needTrust(
    "What an untrusted run writes stays in its work folder until someone takes it out.",
  ),
  "fork-by-own-word": needTrust(
    "`context: fork` and `agent` start a loop of their own; an untrusted skill may not ask for one.",
  ),
  "register-hooks": needTrust("A hook runs without being called."),
  "load-toolsets": needTrust(
    "A toolset is code that starts with the run, before the model or anyone else asked for it.",
  ),
  "use-capabilities": needTrust(
    "What the user's accounts hold, and what can be done in their name, is for skills the user knows.",
  ),
  "use-interpreted-shell": needTrust(
    "Its commands are held by an interpreter and by Node, not by the system: one fault is a way out.",
  ),
  "run-scripts-unsandboxed": needTrust(
    "Outside the sandbox a script can do whatever the user can; even then only by the user's setting.",
  ),
  "install-system-packages": needTrust(
    "A package is installed with the rights of root, for everyone on the machine.",
  ),
  "build-environment": needTrust(
    "Installing packages reaches a registry, and what is installed runs beside the skill.",
  ),
  "run-dynamic-shell-context": needTrust("Commands in the text run before anyone has read it."),
  "be-used-despite-findings": needTrust(
    "Whoever trusts a skill has looked at it; of others the scan is the only look there was.",
  ),
  "execute-from-server": needTrust(
    "What an MCP server sends runs nothing here, not in the sandbox either, before it is approved.",
  ),
  "shadow-trusted-skill": needTrust("Taking the name of a trusted skill would take over its calls."),
} satisfies Readonly<Record<string, TrustRule>>;

export type TrustedThing = keyof typeof TRUST_POLICY;

export function trustAllows(level: Trust, thing: TrustedThing): boolean {
  return TRUST_POLICY[thing][level];
}

/** Chaining never raises: what a skill starts, or what shares a conversation with it, has the lower of both. */
export function lowerTrust(a: Trust, b: Trust): Trust {
  return a === "trusted" && b === "trusted" ? "trusted" : "untrusted";
}
