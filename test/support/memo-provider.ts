/** A provider of an embedding program that keeps notes in memory: one capability to read and change, one to sign in for. */
import {
  answerWith,
  type CapabilityCaller,
  type CapabilityProvider,
  type ProviderInvocation,
} from "@metier/capabilities";

export interface MemoCall {
  readonly operation: string;
  readonly caller: CapabilityCaller;
}

export interface MemoProvider {
  readonly provider: CapabilityProvider;
  /** In the order in which they came. */
  readonly calls: readonly MemoCall[];
  /** Texts that `add` was given. */
  readonly notes: readonly string[];
  /** Codes that completed a sign-in. */
  readonly codes: readonly string[];
  /** Calls of `wait` that were cancelled. */
  readonly cancelled: readonly string[];
}

const OPEN = { requires_auth: false };

const DEFINITIONS = [
  {
    id: "memo.notes",
    description: "Notes of the user.",
    operations: [
      { name: "read", description: "All notes.", ...OPEN },
      { name: "add", description: "Adds a note.", mutating: true, ...OPEN },
      { name: "wait", description: "Answers when it is cancelled.", ...OPEN },
    ],
  },
  { id: "memo.other", description: "More.", operations: [{ name: "read", description: "All.", ...OPEN }] },
  {
    id: "memo.account",
    description: "Needs a sign-in.",
    operations: [{ name: "read", description: "All." }],
  },
  {
    id: "memo.diary",
    description: "For private chats.",
    sensitive: true,
    operations: [{ name: "read", description: "All.", ...OPEN }],
  },
];

export function createMemoProvider(): MemoProvider {
  const calls: MemoCall[] = [];
  const notes: string[] = [];
  const codes: string[] = [];
  const cancelled: string[] = [];
  const perform = async ({ operation, input }: ProviderInvocation, signal: AbortSignal) => {
    if (operation === "add") notes.push(String(input.text));
    if (operation === "wait") {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      cancelled.push(operation);
    }
    return answerWith({ notes: ["buy milk", ...notes] });
  };
  const provider: CapabilityProvider = {
    namespace: "memo",
    definitions: async () => answerWith(DEFINITIONS),
    invoke(request, { caller, signal }) {
      calls.push({ operation: `${request.capabilityId} ${request.operation}`, caller });
      return perform(request, signal);
    },
    authBegin: async ({ capabilityId }) =>
      answerWith({
        authUrl: "https://sign-in.example/authorize?state=state-of-memo",
        flowType: "authorization_code",
        flowState: { capabilityId },
        expectedCallbackState: "state-of-memo",
      }),
    async authComplete({ authorizationCode }) {
      codes.push(authorizationCode);
      return answerWith({
        accountRef: "acc-1",
        credentialMaterial: {},
        metadata: { account_email: "me@example.com" },
      });
    },
  };
  return { provider, calls, notes, codes, cancelled };
}
