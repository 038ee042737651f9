/**
 * What a `Metier` does with capabilities for a program or a person. Nothing of it is loaded, and no provider is started,
 * before it is asked; a config that wires providers otherwise makes the next broker.
 */
import { UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import {
  type Answer,
  type AuthFlow,
  answerFault,
  answerWith,
  type BeginRequest,
  type CapabilityBroker,
  type CapabilityCaller,
  type CapabilityListing,
  type CompletedAuth,
  type CompleteRequest,
  type ConfirmMutation,
  type ForgottenUsers,
  type InvokeAnswer,
  type InvokeRequest,
  type PolledAuth,
  type ProviderStatus,
  tellStateError,
} from "@metier/capabilities";
import { type Caller, checkCaller, ownerOf, type RunCapabilities, toCapabilityCaller } from "@metier/run";
import type { LoadedConfig } from "@metier/skills/config";
import type { MetierParts } from "./load-state.ts";
import type { CapabilityOptions } from "./metier-options.ts";

/** Everything is done for a user: a caller without `userId` is refused, as a value. */
export interface Capabilities {
  /** Sorted by id. What is not for this caller is left out, unless `all`. */
  list(
    caller?: Caller,
    options?: {
      /** Whether what is not for this caller is listed, too. Default: `false`. */
      readonly all?: boolean;
    },
  ): Promise<Answer<readonly CapabilityListing[]>>;
  /** Performs one operation; `confirm` is asked before it changes something. Faults are answers. */
  invoke(request: InvokeRequest, options?: CapabilityCallOptions): Promise<Answer<InvokeAnswer>>;
  /** How accounts are linked. */
  readonly auth: Authorizing;
  /**
   * Removes all that is kept for a user, or for all users of a tenant: accounts, sign-ins, secrets, results of changes. The
   * audit log keeps what was done, and tells no more by whom. Their runs have to be over.
   */
  forget(owner: ForgottenOwner): Promise<void>;
  /** As they are wired, with what went wrong; asking starts them. */
  providers(): Promise<readonly ProviderStatus[]>;
  /** Ends what was started. A program that does not call it can end all the same. */
  close(): Promise<void>;
}

/** Who is forgotten: a user, of a tenant if one is given; or every user of a tenant. */
export type ForgottenOwner =
  | {
      /** The `userId` of a caller. */
      readonly userId: string;
      /** The `tenantId` of that caller. */
      readonly tenantId?: string | undefined;
    }
  | {
      /** All of its users. */
      readonly tenantId: string;
      /** Left out. */
      readonly userId?: undefined;
    };

/** How a user links accounts to capabilities: begins a sign-in, completes it, and unlinks again. */
export interface Authorizing {
  /** Begins a sign-in; one that is pending for the same account is taken up again. */
  begin(request: BeginRequest, options?: AsCaller): Promise<Answer<AuthFlow>>;
  /** The sign-ins of this caller that are pending, newest first. */
  list(filter?: FlowFilter, options?: AsCaller): Promise<Answer<readonly AuthFlow[]>>;
  /** Completes a sign-in with the code, or the address, that the user got at its end. */
  complete(request: CompleteRequest, options?: AsCaller): Promise<Answer<CompletedAuth>>;
  /** The same from the address alone that the browser was sent to: its `state` says which sign-in. */
  completeCallback(callbackUrl: string, options?: AsCaller): Promise<Answer<CompletedAuth>>;
  /** Asks once whether a sign-in with a device code is complete. */
  poll(flowId: string, options?: AsCaller): Promise<Answer<PolledAuth>>;
  /** Forgets an account and its credentials, and answers with its reference. */
  unlink(
    request: UnlinkRequest,
    options?: AsCaller,
  ): Promise<
    Answer<{
      /** The reference of the account that was unlinked. */
      readonly account: string;
    }>
  >;
}

/** Which account is to be unlinked. */
export interface UnlinkRequest {
  /** The capability's id. */
  readonly capability: string;
  /** By reference, name or email. Needed where several are linked. */
  readonly account?: string;
}

/** Whom a call is for. */
export interface AsCaller {
  /** Without a `userId` in it the call is refused with `capability_access_denied`. */
  readonly caller?: Caller;
}

/** Options of `capabilities.invoke`. */
export interface CapabilityCallOptions extends AsCaller {
  /** Asked before something is changed. Default: that of `createMetier`; with neither, nothing is changed. */
  readonly confirm?: ConfirmMutation;
  /** Ends the call when it is aborted. */
  readonly signal?: AbortSignal;
}

/** Which pending sign-ins are listed: those that fit everything that is given. */
export interface FlowFilter {
  /** A capability's id. */
  readonly capability?: string;
  /** The account that the sign-in was begun for. */
  readonly account?: string;
}

export interface CapabilityInputs extends Pick<MetierParts, "places" | "environment" | "cwd"> {
  config(): LoadedConfig;
  readonly options: CapabilityOptions;
}

/** For a program, and for the commands of runs: both through the same broker. */
export function createCapabilities(inputs: CapabilityInputs): {
  readonly capabilities: Capabilities;
  readonly forRuns: RunCapabilities;
} {
  const { confirm } = inputs.options;
  const broker = followBroker({
    wiring: () => wiringOf(inputs.config()),
    async compose() {
      const { composeBroker } = await import("./compose-broker.ts");
      return composeBroker(inputs);
    },
  });
  return {
    capabilities: offerCapabilities(broker, confirm),
    forRuns: { broker: async () => broker, ...presentFields({ confirm }) },
  };
}

/** What decides which providers there are: everything else of the config may change without a new broker. */
function wiringOf({ config: { capabilities, skills } }: LoadedConfig): string {
  return JSON.stringify([capabilities, skills.settings]);
}

/** `confirm` is asked where a call brings nobody to ask. */
export function offerCapabilities(broker: CapabilityBroker, confirm?: ConfirmMutation): Capabilities {
  return {
    async list(caller, options) {
      checkKeys("capabilities.list", options, { all: true });
      return forCaller("list", caller, async (known) => answerWith(await broker.list(known, options)));
    },
    async invoke(request, options = {}) {
      checkKeys("capabilities.invoke", request, INVOKE);
      checkKeys("capabilities.invoke", options, CALL);
      const { caller, signal } = options;
      const asked = options.confirm ?? confirm;
      return forCaller("invoke", caller, (known) =>
        broker.invoke(known, request, presentFields({ confirm: asked, signal })),
      );
    },
    auth: offerAuthorizing(broker),
    async forget(owner) {
      checkKeys("capabilities.forget", owner ?? null, { userId: true, tenantId: true });
      await broker.forget(usersOf(owner));
    },
    providers: () => broker.providers(),
    close: () => broker.close(),
  };
}

/** What is missing or empty could mean everybody. */
function usersOf(owner: ForgottenOwner): ForgottenUsers {
  const { userId, tenantId } = owner;
  const given = Object.values(owner).filter((value) => value !== undefined);
  if (given.length === 0 || given.some((value) => typeof value !== "string" || value.trim() === "")) {
    throw new UsageError(
      "`capabilities.forget` needs to know who is forgotten: `userId`, `tenantId` or both.",
      {
        hint: 'Give texts that are not empty: `capabilities.forget({ userId: "ada" })`.',
      },
    );
  }
  const whole = ownerOf({ userId: userId ?? "", tenantId }) ?? "";
  return userId === undefined ? { prefix: whole } : { userId: whole };
}

function offerAuthorizing({ auth }: CapabilityBroker): Authorizing {
  /** `request` is `undefined` where the call takes a text, or none was given. */
  const check = (call: keyof Authorizing, request: unknown, options: AsCaller = {}): Caller | undefined => {
    checkKeys(`capabilities.auth.${call}`, request, AUTHORIZING[call]);
    checkKeys(`capabilities.auth.${call}`, options, { caller: true });
    return options.caller;
  };
  return {
    async begin(request, options) {
      const caller = check("begin", request ?? null, options);
      return forCaller("auth.begin", caller, (known) => auth.begin(known, request));
    },
    async list(filter, options) {
      const caller = check("list", filter, options);
      return forCaller("auth.list", caller, async (known) => answerWith(await auth.list(known, filter)));
    },
    async complete(request, options) {
      const caller = check("complete", request ?? null, options);
      return forCaller("auth.complete", caller, (known) => auth.complete(known, request));
    },
    async completeCallback(url, options) {
      const caller = check("completeCallback", undefined, options);
      return forCaller("auth.completeCallback", caller, (known) => auth.completeCallback(known, url));
    },
    async poll(flowId, options) {
      const caller = check("poll", undefined, options);
      return forCaller("auth.poll", caller, (known) => auth.poll(known, flowId));
    },
    async unlink(request, options) {
      const caller = check("unlink", request ?? null, options);
      return forCaller("auth.unlink", caller, (known) => auth.unlink(known, request));
    },
  };
}

const INVOKE: OptionKeys<InvokeRequest> = {
  capability: true,
  operation: true,
  input: true,
  account: true,
  idempotencyKey: true,
  planId: true,
};
const CALL: OptionKeys<CapabilityCallOptions> = { caller: true, confirm: true, signal: true };

const BEGIN: OptionKeys<BeginRequest> = { capability: true, account: true, redirectUri: true };
const COMPLETE: OptionKeys<CompleteRequest> = {
  flowId: true,
  code: true,
  callbackUrl: true,
  isFromBrowser: true,
};
const FLOWS: OptionKeys<FlowFilter> = { capability: true, account: true };
const UNLINK: OptionKeys<UnlinkRequest> = { capability: true, account: true };
const AUTHORIZING: Readonly<Record<keyof Authorizing, Readonly<Record<string, true>>>> = {
  begin: BEGIN,
  list: FLOWS,
  complete: COMPLETE,
  completeCallback: {},
  poll: {},
  unlink: UNLINK,
};

async function forCaller<Value>(
  call: string,
  caller: Caller | undefined,
  work: (caller: CapabilityCaller) => Promise<Answer<Value>>,
): Promise<Answer<Value>> {
  checkCaller(`capabilities.${call}({ caller })`, caller);
  const known = toCapabilityCaller(caller);
  if (known !== undefined) return tellStateError(() => work(known));
  return answerFault(
    "capability_access_denied",
    "A capability is performed for a user, and it is not known who asks.",
    { hint: "Say who asks: `caller: { userId: … }`." },
  );
}

interface BrokerSource {
  /** Another text: another broker. */
  wiring(): string;
  compose(): Promise<CapabilityBroker>;
}

interface HeldBroker {
  readonly wiring: string;
  readonly broker: Promise<CapabilityBroker>;
  calls: number;
}

/**
 * One broker for everybody, over the brokers that configs make: the first call makes one. The one before ends with the
 * last call that is under way in it.
 */
export function followBroker({ wiring, compose }: BrokerSource): CapabilityBroker {
  let current: HeldBroker | undefined;
  const open = new Set<HeldBroker>();

  const end = async (held: HeldBroker): Promise<void> => {
    if (!open.delete(held)) return;
    const broker = await held.broker.catch(() => undefined); // Whoever asked first has heard of the fault.
    await broker?.close();
  };
  const retire = (held: HeldBroker): void => {
    end(held).catch(() => undefined); // It has answered everybody, and nobody waits for its end.
  };
  const holdCurrent = (): HeldBroker => {
    const wanted = wiring();
    if (current?.wiring === wanted) return current;
    const before = current;
    const held: HeldBroker = { wiring: wanted, broker: compose(), calls: 0 };
    current = held;
    open.add(held);
    held.broker.catch(() => {
      if (current === held) current = undefined; // The next call tries again.
      open.delete(held);
    });
    if (before?.calls === 0) retire(before);
    return held;
  };
  const use = async <Value>(work: (broker: CapabilityBroker) => Promise<Value>): Promise<Value> => {
    const held = holdCurrent();
    held.calls += 1;
    try {
      return await work(await held.broker);
    } finally {
      held.calls -= 1;
      if (held !== current && held.calls === 0) retire(held);
    }
  };
  return {
    list: (caller, options) => use((broker) => broker.list(caller, options)),
    preflight: (ids, caller) => use((broker) => broker.preflight(ids, caller)),
    invoke: (caller, request, options) => use((broker) => broker.invoke(caller, request, options)),
    auth: {
      begin: (caller, request) => use(({ auth }) => auth.begin(caller, request)),
      list: (caller, filter) => use(({ auth }) => auth.list(caller, filter)),
      complete: (caller, request) => use(({ auth }) => auth.complete(caller, request)),
      completeCallback: (caller, url) => use(({ auth }) => auth.completeCallback(caller, url)),
      poll: (caller, flowId) => use(({ auth }) => auth.poll(caller, flowId)),
      unlink: (caller, request) => use(({ auth }) => auth.unlink(caller, request)),
    },
    forget: (users) => use((broker) => broker.forget(users)),
    providers: () => use((broker) => broker.providers()),
    async close() {
      current = undefined;
      await Promise.all([...open].map(end));
    },
  };
}
