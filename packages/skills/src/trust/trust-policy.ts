/**
 * What trust decides: the one table that every later stage checks before it does something for a skill. A new power
 * needs a row here first; nothing else compares trust levels.
 */
import type { Trust } from "../skill/skill.ts";

interface TrustRule {
  readonly trusted: boolean;
  readonly untrusted: boolean;
  /** The reason, in one line. */
  readonly reason: string;
}

const allow = (reason: string): TrustRule => ({ trusted: true, untrusted: true, reason });
const needTrust = (reason: string): TrustRule => ({ trusted: true, untrusted: false, reason });

/** By what may need trust. */
export const TRUST_POLICY = {
  "activate-inline": allow("Instructions are only text: the host still asks before any tool acts."),
  "run-isolated": allow("The sandbox and the rows below apply whatever the skill says."),
  "restrict-tools": allow(
    "Any skill may ask for less: `allowed-tools` and `disallowed-tools` narrow an isolated run.",
  ),
  "pre-approve-tools": needTrust(
    "A skill that nobody vouched for must not answer the user's tool questions through `allowed-tools`.",
  ),
  "receive-secrets": needTrust("A secret given to unknown code is a secret given away."),
  "receive-user-values": needTrust(
    "Values from the user's config are for skills the user knows; a project's skill needs a grant for them.",
  ),
  "use-network": needTrust("Without network access, nothing it reads can be sent."),
  "read-working-directory": needTrust("An untrusted run sees only its skill folder and its work folder."),
  "write-working-directory": needTrust(
    "An untrusted run's output stays in its work folder until someone copies it.",
  ),
  "fork-by-own-word": needTrust(
    "`context: fork` and `agent` start a separate loop; an untrusted skill may not ask for one.",
  ),
  "register-hooks": needTrust("A hook runs without being called."),
  "load-toolsets": needTrust(
    "A toolset is code that starts with the run, before the model or anyone else asks for it.",
  ),
  "use-capabilities": needTrust(
    "The user's accounts, and actions in their name, are for skills the user knows.",
  ),
  "use-interpreted-shell": needTrust(
    "Its commands are contained by an interpreter and Node, not by the system: one bug is a way out.",
  ),
  "run-scripts-unsandboxed": needTrust(
    "Outside the sandbox a script can do anything the user can; it needs both trust and the user's setting.",
  ),
  "install-system-packages": needTrust("Packages are installed as root, for everyone on the machine."),
  "build-environment": needTrust(
    "Installing packages contacts a registry, and the packages run alongside the skill.",
  ),
  "run-dynamic-shell-context": needTrust("Commands in the text run before anyone has read it."),
  "be-used-despite-findings": needTrust(
    "Whoever trusts a skill has reviewed it; for others the scan is the only review.",
  ),
  "execute-from-server": needTrust(
    "Code from an MCP server never runs here, not even in the sandbox, before it is approved.",
  ),
  "shadow-trusted-skill": needTrust("A skill with the name of a trusted one would take over its calls."),
} satisfies Readonly<Record<string, TrustRule>>;

export type TrustedThing = keyof typeof TRUST_POLICY;

export function trustAllows(level: Trust, thing: TrustedThing): boolean {
  return TRUST_POLICY[thing][level];
}

/**
 * Chaining never raises trust: what a skill starts, or what shares a conversation with it, has the lower of both
 * levels.
 */
export function lowerTrust(a: Trust, b: Trust): Trust {
  return a === "trusted" && b === "trusted" ? "trusted" : "untrusted";
}
