/** A broker over one provider that users sign in to: with a code (`door.mail`, `door.diary`) or with a device (`door.safe`). */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Answer,
  type AuditEntry,
  type AuthFlow,
  answerWith,
  type CapabilityBroker,
  type CapabilityCaller,
  type CapabilityFault,
  type CapabilityProvider,
} from "@metier/capabilities";
import { createBroker } from "@metier/capabilities/broker";
import { wireProvider } from "./capability-broker.ts";
import { temporaryFolder } from "./temporary.ts";

/** What the provider must never let out of the vault. */
export const VERIFIER = "verifier-of-one-sign-in-0123456789";
export const ACCESS = "granted-access-of-one-user-0123456789";
export const START = Date.parse("2026-03-01T10:00:00.000Z");

const READ = [{ name: "read", description: "Reads." }];
const DEFINITIONS = [
  { id: "door.mail", description: "Letters.", operations: READ },
  { id: "door.diary", description: "For private chats.", sensitive: true, operations: READ },
  { id: "door.safe", description: "Opened with a device.", operations: READ },
];

export interface SignInWorld {
  readonly broker: CapabilityBroker;
  readonly auth: CapabilityBroker["auth"];
  /** `.metier` */
  readonly base: string;
  /** What reached the provider: `begin door.mail`. */
  readonly calls: readonly string[];
  /** Milliseconds since 1970; moved by hand. */
  readonly clock: { now: number };
  audit(): readonly AuditEntry[];
}

export interface SignInOptions {
  readonly home?: string;
  /** In place of the provider's own parts. */
  readonly provider?: Partial<CapabilityProvider>;
  readonly flowTtlSeconds?: number;
  readonly rateLimit?: number;
}

export function openSignInWorld({
  home = temporaryFolder(),
  provider,
  ...input
}: SignInOptions = {}): SignInWorld {
  const calls: string[] = [];
  const clock = { now: START };
  const base = join(home, ".metier");
  const state = join(base, "state");
  const broker = createBroker({
    providers: [wireProvider({ ...createDoor(calls), ...provider })],
    places: { base, state },
    now: () => clock.now,
    ...input,
  });
  const log = join(state, "capabilities", "audit.jsonl");
  const audit = (): readonly AuditEntry[] =>
    existsSync(log)
      ? readFileSync(log, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as AuditEntry)
      : [];
  return { broker, auth: broker.auth, base, calls, clock, audit };
}

function createDoor(calls: string[]): CapabilityProvider {
  return {
    namespace: "door",
    definitions: async () => answerWith(DEFINITIONS),
    invoke: async () => answerWith({}),
    async authBegin({ capabilityId, accountHint = "", redirectUri = "http://localhost:8085/" }) {
      const number = calls.push(`begin ${capabilityId} ${accountHint}`.trim());
      const flowState = { verifier: VERIFIER, number };
      if (capabilityId === "door.safe") {
        const authUrl = "https://door.example/device";
        return answerWith({
          authUrl,
          flowType: "device_code",
          userCode: "WDJB-MJHT",
          pollIntervalSeconds: 5,
          flowState,
        });
      }
      const query = new URLSearchParams({
        response_type: "code",
        state: `state-${number}`,
        redirect_uri: redirectUri,
      });
      return answerWith({
        authUrl: `https://door.example/authorize?${query}`,
        flowType: "authorization_code",
        flowState,
      });
    },
    async authComplete({ capabilityId, authorizationCode, flowState }, { vault }) {
      calls.push(`complete ${capabilityId} ${authorizationCode}`);
      const kept = await vault.put({ access: ACCESS, flowState });
      return answerWith({
        accountRef: "account-1",
        credentialMaterial: { kept },
        metadata: { account_name: "Ada", account_email: "ada@example.com" },
      });
    },
    async authPoll({ capabilityId }) {
      calls.push(`poll ${capabilityId}`);
      return answerWith({ status: "pending", retryAfterSeconds: 5 });
    },
  };
}

/** Of an answer that must be there. */
export function answered<Value>(answer: Answer<Value>): Value {
  if (answer.ok) return answer.value;
  throw new Error(`${answer.fault.code}: ${answer.fault.message}`);
}

/** Of an answer that must be a refusal. */
export function faultOf(answer: Answer<unknown>): CapabilityFault {
  if (!answer.ok) return answer.fault;
  throw new Error(`There is an answer: ${JSON.stringify(answer.value)}`);
}

export async function begin(
  { auth }: Pick<SignInWorld, "auth">,
  caller: CapabilityCaller,
  capability = "door.mail",
  account?: string,
): Promise<AuthFlow> {
  return answered(await auth.begin(caller, { capability, ...(account !== undefined && { account }) }));
}

/** The `state` that the browser would bring. */
export function stateOf({ authUrl }: AuthFlow): string {
  return new URL(authUrl).searchParams.get("state") ?? "";
}

/** References of the accounts that a caller sees. */
export async function linkedAccounts(
  { broker }: Pick<SignInWorld, "broker">,
  caller: CapabilityCaller,
  id = "door.mail",
): Promise<readonly string[]> {
  const found = (await broker.list(caller)).find((one) => one.id === id);
  return found?.linkedAccounts.map(({ accountRef }) => accountRef) ?? [];
}

export function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
