/**
 * How the processes of a run reach granted domains: the allow-list proxy, for as long as the run lasts, and a sandbox
 * whose every command has it. Nothing is opened where nothing is granted.
 */
import { join } from "node:path";
import { openEgressProxy } from "../egress/proxy.ts";
import type { Places } from "../host/places.ts";
import type { ConversationTrust } from "../invoke/conversation-trust.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

export interface Egress {
  readonly sandbox: Sandbox;
  /** Hosts that processes have reached so far. */
  readonly reached: ReadonlySet<string>;
  close(): Promise<void>;
}

export interface EgressInput {
  readonly sandbox: Sandbox;
  readonly network: readonly string[];
  readonly places: Pick<Places, "state">;
  /** Once an untrusted text is in it, nothing goes out any more. */
  readonly conversation?: ConversationTrust | undefined;
}

export async function openEgress({ sandbox, network, places, conversation }: EgressInput): Promise<Egress> {
  const reached = new Set<string>();
  // The others give no network at all; or all of it, which a proxy would only pretend to hold back.
  if (network.length === 0 || sandbox.backend !== "bubblewrap") {
    return { sandbox, reached, close: () => Promise.resolve() };
  }
  const { socketPath, close } = await openEgressProxy({
    network,
    home: join(places.state, "egress"),
    whyHeld: () => whyHeld(conversation?.taintedBy),
    onReach: (host) => reached.add(host),
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
