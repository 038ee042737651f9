/**
 * Asks providers for their definitions once, when the first caller needs them, and in parallel if all are needed. A
 * provider that fails is reported, does not affect the others, and is asked again later.
 */
import { presentFields } from "@metier/base/json";
import { compareText } from "@metier/base/text";
import { isCapabilityId } from "@metier/skills";

import { callProvider } from "./call-provider.ts";
import {
  answerWith,
  type CapabilityDefinition,
  type CapabilityFault,
  type CapabilityProvider,
} from "./capability.ts";
import type { ProviderStatus } from "./capability-broker.ts";
import { readCapabilityDefinitions } from "./read-definitions.ts";
import type { BridgeTokens } from "./tokens/caller-tokens.ts";

/** A provider from the config, a preset or the embedding program, before it is asked. */
export interface WiredProvider
  extends Pick<ProviderStatus, "name" | "namespace" | "kind" | "origin" | "command"> {
  /** Absent if its config is invalid. */
  readonly provider?: CapabilityProvider | undefined;
  readonly fault?: CapabilityFault | undefined;
  /** How long one call may take, from the config. Default: 30 seconds. */
  readonly timeoutMs?: number | undefined;
  /** The issuer whose key the provider's process got. Absent: nobody checks its tokens, as in this process. */
  readonly tokens?: BridgeTokens | undefined;
}

/** Definitions of all providers that answered; read once, when the first caller comes. */
export interface CapabilityRegistry {
  find(id: string): Promise<RegisteredCapability | undefined>;
  /** Sorted by id. */
  all(): Promise<readonly RegisteredCapability[]>;
  /** Of all providers, or of one namespace; the others are not asked. */
  statuses(namespace?: string): Promise<readonly ProviderStatus[]>;
  close(): Promise<void>;
}

export interface RegisteredCapability {
  readonly definition: CapabilityDefinition;
  readonly provider: CapabilityProvider;
  /** For one call to the provider. */
  readonly timeoutMs: number;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const ASK_AGAIN_AFTER_MS = 30_000;
const CLOSE_WITHIN_MS = 5_000;

interface Offer {
  readonly capabilities: readonly RegisteredCapability[];
  readonly fault?: CapabilityFault | undefined;
}

/** One configured provider, and the result of asking it. */
interface Place {
  readonly wired: WiredProvider;
  /** Faults that asking cannot change. */
  readonly fault?: CapabilityFault | undefined;
  offer?: Promise<Offer> | undefined;
  failedAt?: number | undefined;
}

export function createRegistry(
  wired: readonly WiredProvider[],
  { now = Date.now }: { now?(): number } = {},
): CapabilityRegistry {
  const closing = new AbortController();
  const places: readonly Place[] = wired.map((entry, index) => {
    const fault = entry.fault ?? checkWiring(entry, wired.slice(0, index));
    return { wired: entry, fault };
  });
  const ask = (place: Place): Promise<Offer> => {
    const { fault, failedAt, wired: entry } = place;
    if (fault || !entry.provider) return Promise.resolve({ capabilities: [], fault });
    if (failedAt !== undefined && now() - failedAt >= ASK_AGAIN_AFTER_MS) {
      delete place.offer;
      delete place.failedAt;
    }
    place.offer ??= askDefinitions(entry, entry.provider, closing.signal).then((offer) => {
      if (offer.fault) place.failedAt = now();
      return offer;
    });
    return place.offer;
  };
  return {
    async find(id) {
      const place = places.find(
        ({ wired: { namespace }, fault }) => !fault && id.startsWith(`${namespace}.`),
      );
      if (!place) return undefined;
      const { capabilities } = await ask(place);
      return capabilities.find(({ definition }) => definition.id === id);
    },
    async all() {
      const offers = await Promise.all(places.map(ask));
      return offers
        .flatMap(({ capabilities }) => capabilities)
        .toSorted((a, b) => compareText(a.definition.id, b.definition.id));
    },
    statuses: (namespace) =>
      Promise.all(
        places
          .filter(({ wired: entry }) => namespace === undefined || entry.namespace === namespace)
          .map(async (place) => describeProvider(place.wired, await ask(place))),
      ),
    async close() {
      closing.abort();
      await Promise.all(wired.map(({ provider }) => provider && closeProvider(provider)));
    },
  };
}

/** If closing fails or takes too long, there is nobody left to tell. */
async function closeProvider(provider: CapabilityProvider): Promise<void> {
  await callProvider({ namespace: provider.namespace, timeoutMs: CLOSE_WITHIN_MS }, async () => {
    await provider.close?.();
    return answerWith(null);
  });
}

function describeProvider(
  { name, namespace, kind, origin, command }: WiredProvider,
  { capabilities, fault }: Offer,
): ProviderStatus {
  const ids = capabilities.map(({ definition }) => definition.id);
  return presentFields({ name, namespace, kind, origin, command, capabilities: ids, fault });
}

/** A namespace belongs to the first provider that has it. */
function checkWiring(entry: WiredProvider, earlier: readonly WiredProvider[]): CapabilityFault | undefined {
  const { namespace, name, provider } = entry;
  const fault = (message: string, hint: string): CapabilityFault => ({
    code: "capability_invalid_input",
    message,
    hint,
  });
  if (!isCapabilityId(`${namespace}.any`)) {
    return fault(
      `The provider \`${name}\` has an invalid namespace ${JSON.stringify(namespace)}; use lowercase letters, digits, \`_\` and \`-\`.`,
      "Choose another `namespace`.",
    );
  }
  if (provider && provider.namespace !== namespace) {
    return fault(
      `The provider \`${name}\` is configured with the namespace \`${namespace}\`, but declares ${JSON.stringify(provider.namespace)}.`,
      "Make both the same.",
    );
  }
  const owner = earlier.find((other) => other.namespace === namespace && !other.fault);
  return (
    owner &&
    fault(
      `The namespace \`${namespace}\` of the provider \`${name}\` already belongs to the provider \`${owner.name}\`.`,
      "Give one of them another `namespace`, or disable it.",
    )
  );
}

async function askDefinitions(
  { namespace, timeoutMs = DEFAULT_TIMEOUT_MS }: WiredProvider,
  provider: CapabilityProvider,
  closing: AbortSignal,
): Promise<Offer> {
  const answer = await callProvider({ namespace, timeoutMs, signal: closing }, (signal) =>
    provider.definitions(signal),
  );
  if (!answer.ok) return { capabilities: [], fault: answer.fault };
  const canSignIn = provider.authBegin !== undefined;
  const read = await readCapabilityDefinitions(answer.value, { namespace, canSignIn });
  if (!read.ok) return { capabilities: [], fault: read.fault };
  return { capabilities: read.value.map((definition) => ({ definition, provider, timeoutMs })) };
}
