/** The desk as a provider: its two capabilities, and the sign-in that links an account. */
import type { CapabilityCaller, JsonObject } from "../capabilities/capability.ts";
import { type Answer, done, refuse } from "../capabilities/capability-fault.ts";
import type {
  CapabilityProvider,
  ProviderContext,
  ProviderInvocation,
} from "../capabilities/capability-provider.ts";
import { tellStateError } from "../capabilities/state-error.ts";
import { checkJson } from "../validate/json-schema.ts";
import { createAuthorizationClient } from "./authorization/device-client.ts";
import { readServerAddress } from "./authorization/server-address.ts";
import { CALENDAR_OPERATIONS } from "./calendar/calendar-capability.ts";
import { isZone } from "./calendar/zoned-time.ts";
import { accountFolder } from "./desk-accounts.ts";
import type { DeskOperation } from "./desk-operation.ts";
import { type LinkedAccounts, openLinkedAccounts } from "./linked-accounts.ts";
import { MAIL_OPERATIONS } from "./mail/mail-capability.ts";
import { maskCredentials } from "./mask-credentials.ts";
import { openAccount } from "./open-desk.ts";
import { beginSignIn, pollSignIn, type SignInParts } from "./sign-in.ts";

export interface DeskOptions {
  /** A folder for each account is in it. */
  readonly root: string;
  /** Where the authorization server of the desk is. Default: what it has written beside the accounts. */
  readonly authorizationServer?: string;
  /** For what says which accounts a user has linked. */
  readonly stateFolder: string;
  /** Milliseconds since 1970. */
  clock?(): number;
}

export const NAMESPACE = "desk";

interface DeskCapability {
  readonly description: string;
  readonly operations: readonly DeskOperation[];
}

const CAPABILITIES: ReadonlyMap<string, DeskCapability> = new Map([
  [
    "desk.mail",
    { description: "A mailbox on this machine: read, search, sort and send.", operations: MAIL_OPERATIONS },
  ],
  [
    "desk.calendar",
    {
      description: "A calendar on this machine: events in a range of time, new and cancelled ones.",
      operations: CALENDAR_OPERATIONS,
    },
  ],
]);

export function createDeskProvider(options: DeskOptions): CapabilityProvider {
  const { root, authorizationServer, stateFolder, clock = Date.now } = options;
  const client = createAuthorizationClient(() => authorizationServer ?? readServerAddress(root));
  const accountsOf = (capabilityId: string, { caller, vault }: ProviderContext): LinkedAccounts =>
    openLinkedAccounts({ folder: stateFolder, userId: caller.userId, capabilityId, vault });
  const signInParts = (capabilityId: string, context: ProviderContext): SignInParts => ({
    client,
    accounts: accountsOf(capabilityId, context),
    vault: context.vault,
    signal: context.signal,
    now: clock(),
  });

  async function invoke(request: ProviderInvocation, context: ProviderContext): Promise<Answer<JsonObject>> {
    const operation = findOperation(request);
    if (!operation.ok) return operation;
    const checked = await checkJson(operation.value.inputSchema, request.input);
    if (!checked.ok) return refuse("capability_invalid_input", `The input does not fit: ${checked.message}.`);
    const { signal } = context;
    const parts = { accounts: accountsOf(request.capabilityId, context), client, signal, now: clock() };
    const account = await openAccount(request.account?.accountRef, parts);
    if (!account.ok) return account;
    const { id, name, email } = account.value;
    const answer = await operation.value.perform(checked.value as JsonObject, {
      folder: accountFolder(root, id),
      account: { name, email },
      timezone: zoneOf(context.caller),
      signal,
      now: new Date(clock()),
      ...(request.idempotencyKey !== undefined && { idempotencyKey: request.idempotencyKey }),
    });
    return answer.ok ? done(maskCredentials(answer.value)) : answer;
  }

  return {
    namespace: NAMESPACE,
    definitions: async () => done(describeCapabilities()),
    invoke: (request, context) => tellStateError(() => invoke(request, context)),
    authBegin: ({ capabilityId }, context) =>
      tellStateError(() => beginSignIn(signInParts(capabilityId, context))),
    authPoll: ({ capabilityId, flowState }, context) =>
      tellStateError(() => pollSignIn(flowState, signInParts(capabilityId, context))),
    async forget({ accountRef, credentialMaterial }, context) {
      for (const capabilityId of CAPABILITIES.keys()) {
        const accounts = accountsOf(capabilityId, context);
        // The same account may be linked for the other capability, too.
        if (accounts.vaultRefOf(accountRef) !== credentialMaterial.vault_ref) continue;
        const linked = await accounts.find(accountRef);
        await accounts.unlink(accountRef);
        if (linked) await client.revokeTokens(linked.refreshToken, context.signal);
      }
    },
  };
}

function describeCapabilities(): readonly JsonObject[] {
  return [...CAPABILITIES].map(([id, { description, operations }]) => ({
    id,
    description,
    sensitive: true,
    operations: operations.map((operation) => ({
      name: operation.name,
      description: operation.description,
      requires_auth: true,
      mutating: operation.mutating,
      idempotent: operation.idempotent,
      input_schema: operation.inputSchema,
      output_schema: operation.outputSchema,
    })),
  }));
}

function findOperation({ capabilityId, operation }: ProviderInvocation): Answer<DeskOperation> {
  const capability = CAPABILITIES.get(capabilityId);
  if (!capability) return refuse("capability_not_found", `The desk has no capability \`${capabilityId}\`.`);
  const found = capability.operations.find(({ name }) => name === operation);
  if (found) return done(found);
  const known = capability.operations.map(({ name }) => `\`${name}\``).join(", ");
  return refuse(
    "capability_invalid_input",
    `\`${capabilityId}\` has no operation \`${operation}\`; it has ${known}.`,
  );
}

/** The caller's, or that of this machine. */
function zoneOf({ timezone }: CapabilityCaller): string {
  if (timezone !== undefined && isZone(timezone)) return timezone;
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
