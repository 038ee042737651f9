/**
 * Some backends are for what the user trusts only: they hold less than the system does. A conversation starts trusted, so
 * there each command asks again; after an untrusted text nothing is run that way.
 */
import type { ConversationTrust } from "../invoke/conversation-trust.ts";
import { refuse } from "../sandbox/check-command.ts";
import type { Sandbox, SandboxBackend } from "../sandbox/sandbox.ts";
import { type TrustedThing, trustAllows } from "../trust/trust-policy.ts";

const NEEDS_TRUST: Partial<Record<SandboxBackend, { readonly power: TrustedThing; readonly how: string }>> = {
  none: { power: "run-scripts-unsandboxed", how: "without a sandbox" },
  "just-bash": { power: "use-interpreted-shell", how: "in an interpreted shell" },
};

export function holdToTrust(sandbox: Sandbox, trust: ConversationTrust): Sandbox {
  const needed = NEEDS_TRUST[sandbox.backend];
  if (!needed || trustAllows("untrusted", needed.power)) return sandbox;
  return {
    ...sandbox,
    async run(command) {
      const { taintedBy } = trust;
      if (taintedBy === undefined) return sandbox.run(command);
      return refuse(
        `The untrusted \`${taintedBy}\` is in this conversation, so no command runs ${needed.how}.`,
      );
    },
  };
}
