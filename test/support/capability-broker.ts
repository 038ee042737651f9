/** A broker over a provider that notes what it is asked, with accounts that are linked by hand. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@metier/base/json";
import {
  type Answer,
  answerWith,
  type BrokerInput,
  type CapabilityBroker,
  type CapabilityCaller,
  type CapabilityProvider,
  type ProviderAccount,
  type ProviderContext,
  type ProviderInvocation,
  type WiredProvider,
} from "@metier/capabilities";
import { createBroker, openAccounts } from "@metier/capabilities/broker";
import { temporaryFolder } from "./temporary.ts";

export const ALICE: CapabilityCaller = { userId: "alice", chatType: "private" };
export const BOB: CapabilityCaller = { userId: "bob", chatType: "private" };

export type PerformInvocation = (
  request: ProviderInvocation,
  context: ProviderContext,
) => Promise<Answer<JsonObject>> | Answer<JsonObject>;

/** Two capabilities: `post.mail`, which needs an account, and `post.clock`, which needs none. */
export const POST_DEFINITIONS: unknown = [
  {
    id: "post.mail",
    description: "Letters of the user.",
    sensitive: true,
    operations: {
      read: {
        description: "Reads the newest letters.",
        input_schema: {
          type: "object",
          properties: { limit: { type: "integer", minimum: 1, default: 10 } },
          additionalProperties: false,
        },
        output_schema: { type: "object", required: ["letters"], properties: { letters: { type: "array" } } },
      },
      send: { description: "Sends a letter.", mutating: true },
      file: { description: "Files a letter.", mutating: true, idempotent: true },
    },
  },
  {
    id: "post.clock",
    description: "The time.",
    operations: [{ name: "now", description: "Tells the time.", requires_auth: false }],
  },
];

export interface PostOffice {
  readonly broker: CapabilityBroker;
  /** What reached the provider. */
  readonly calls: readonly { readonly request: ProviderInvocation; readonly context: ProviderContext }[];
  /** `<home>/.metier/state/capabilities` */
  readonly folder: string;
  link(user: CapabilityCaller, accountRef: string, more?: Partial<ProviderAccount>): Promise<void>;
}

export interface PostOptions extends Partial<Omit<BrokerInput, "providers" | "places">> {
  /** Default: an empty list of letters. */
  readonly perform?: PerformInvocation;
  readonly definitions?: unknown;
  readonly timeoutMs?: number;
  readonly home?: string;
}

export function openPostOffice({
  perform = () => answerWith({ letters: [] }),
  definitions = POST_DEFINITIONS,
  timeoutMs,
  home = temporaryFolder(),
  ...input
}: PostOptions = {}): PostOffice {
  const calls: { request: ProviderInvocation; context: ProviderContext }[] = [];
  const provider: CapabilityProvider = {
    namespace: "post",
    definitions: async () => answerWith(definitions),
    async invoke(request, context) {
      calls.push({ request, context });
      return perform(request, context);
    },
    authBegin: async () =>
      answerWith({ authUrl: "http://127.0.0.1/", flowType: "device_code", flowState: {} }),
  };
  const base = join(home, ".metier");
  const state = join(base, "state");
  mkdirSync(state, { recursive: true });
  const folder = join(state, "capabilities");
  const accounts = openAccounts({ folder: join(folder, "accounts") });
  return {
    broker: createBroker({
      providers: [wireProvider(provider, timeoutMs === undefined ? {} : { timeoutMs })],
      places: { base, state },
      ...input,
    }),
    calls,
    folder,
    link: ({ userId }, accountRef, more = {}) =>
      accounts.put(userId, "post.mail", {
        accountRef,
        createdAt: "2026-01-01T00:00:00.000Z",
        credentialMaterial: {},
        metadata: {},
        ...more,
      }),
  };
}

export function wireProvider(provider: CapabilityProvider, more: Partial<WiredProvider> = {}): WiredProvider {
  const { namespace } = provider;
  return { name: namespace, namespace, kind: "in-process", origin: "program", provider, ...more };
}

/** A provider that offers the definitions and nothing else. */
export function offer(namespace: string, definitions: unknown): CapabilityProvider {
  return { namespace, definitions: async () => answerWith(definitions), invoke: async () => answerWith({}) };
}
