/** The proxy's way to a host: through the gate, and then by a connection of its own to an address that was checked. */
import type { Socket } from "node:net";
import { checkDestination } from "./check-destination.ts";
import { dialPinned } from "./dial-pinned.ts";
import { type EgressFault, refuseEgress } from "./egress-fault.ts";
import type { AddressBook } from "./resolve-public.ts";

export interface ReachOptions {
  /** Granted domains. */
  readonly network: readonly string[];
  /** Asked each time: why nothing may go out at present, in a sentence. */
  whyHeld?(): string | undefined;
  /** A connection to this host was made. */
  onReach?(host: string): void;
  onRefuse?(host: string, fault: EgressFault): void;
}

export interface ReachParts extends ReachOptions {
  readonly addresses: AddressBook;
  readonly dialMs: number;
  /** Ends what is being dialled. */
  readonly signal: AbortSignal;
  /** What becomes of every connection. */
  track(connection: Socket): Socket;
}

export type ReachOutcome = { readonly ok: true; readonly url: URL; readonly upstream: Socket } | EgressFault;

/** `target` is a URL; a refusal or a fault is a value. */
export type Reach = (target: string) => Promise<ReachOutcome>;

export function createReach(parts: ReachParts): Reach {
  const { network, addresses, dialMs, signal } = parts;
  return async (target) => {
    const held = parts.whyHeld?.();
    const checked =
      held === undefined
        ? await checkDestination(target, network, addresses)
        : refuseEgress("not-granted", held);
    if (!checked.ok) {
      const host = URL.parse(target)?.hostname;
      if (host) parts.onRefuse?.(host, checked);
      return checked;
    }
    const { url } = checked;
    try {
      const upstream = await dialPinned(url, checked.addresses, { timeoutMs: dialMs, signal });
      parts.onReach?.(url.hostname);
      return { ok: true, url, upstream: parts.track(upstream) };
    } catch (fault) {
      return refuseEgress("unreachable", `\`${url.host}\` cannot be reached: ${(fault as Error).message}.`);
    }
  };
}
