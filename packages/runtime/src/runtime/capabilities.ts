/**
 * A `Metier`'s capabilities, for a program or a person. Nothing is loaded and no provider starts before the first call;
 * a config with other providers creates a new broker.
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

/** Everything acts for a user: a caller without `userId` is refused, as a value. */
export interface Capabilities {
  /** Sorted by id. Leaves out what isn't for this caller, unless `all` is set. */
  list(
    caller?: Caller,
    options?: {
      /** Whether to also list what isn't for this caller. Default: `false`. */
      readonly all?: boolean;
    },
  ): Promise<Answer<readonly CapabilityListing[]>>;
  /** Performs one operation; `confirm` is asked before a change. Errors are returned as values. */
  invoke(request: InvokeRequest, options?: CapabilityCallOptions): Promise<Answer<InvokeAnswer>>;
  /** Links accounts. */
  readonly auth: Authorizing;
  /**
   * Removes everything kept for a user, or for all users of a tenant: accounts, sign-ins, secrets, results of changes.
   * The audit log keeps what was done, but no longer by whom. Their runs must have ended.
   */
  forget(owner: ForgottenOwner): Promise<void>;
  /** The configured providers, with their errors; starts them. */
  providers(): Promise<readonly ProviderStatus[]>;
  /** Ends what was started. A program can exit without calling it. */
  close(): Promise<void>;
}

/** Who to forget: a user, within a tenant if given; or every user of a tenant. */
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

/** Links a user's accounts to capabilities: starts a sign-in, completes it, and unlinks. */
export interface Authorizing {
  /** Starts a sign-in; resumes one that is pending for the same account. */
  begin(request: BeginRequest, options?: AsCaller): Promise<Answer<AuthFlow>>;
  /** This caller's pending sign-ins, newest first. */
  list(filter?: FlowFilter, options?: AsCaller): Promise<Answer<readonly AuthFlow[]>>;
  /** Completes a sign-in with the code or address that the user got at its end. */
  complete(request: CompleteRequest, options?: AsCaller): Promise<Answer<CompletedAuth>>;
  /** The same with only the address that the browser was sent to: its `state` identifies the sign-in. */
  completeCallback(callbackUrl: string, options?: AsCaller): Promise<Answer<CompletedAuth>>;
  /** Checks once whether a device-code sign-in is complete. */
  poll(flowId: string, options?: AsCaller): Promise<Answer<PolledAuth>>;
  /** Forgets an account and its credentials, and returns its reference. */
  unlink(
    request: UnlinkRequest,
    options?: AsCaller,
  ): Promise<
    Answer<{
      /** The reference of the unlinked account. */
      readonly account: string;
    }>
  >;
}

/** The account to unlink. */
export interface UnlinkRequest {
  /** The capability's id. */
  readonly capability: string;
  /** By reference, name or email. Needed if several are linked. */
  readonly account?: string;
}

/** Who a call is for. */
export interface AsCaller {
  /** Without a `userId`, the call is refused with `capability_access_denied`. */
  readonly caller?: Caller;
}

/** Options of `capabilities.invoke`. */
export interface CapabilityCallOptions extends AsCaller {
  /** Asked before a change. Default: that of `createMetier`; without either, nothing is changed. */
  readonly confirm?: ConfirmMutation;
  /** Aborting it ends the call. */
  readonly signal?: AbortSignal;
}

/** Which pending sign-ins to list: those that match every given field. */
export interface FlowFilter {
  /** A capability's id. */
  readonly capability?: string;
  /** The account that the sign-in is for. */
  readonly account?: string;
}

export interface CapabilityInputs extends Pick<MetierParts, "places" | "environment" | "cwd"> {
  config(): LoadedConfig;
  readonly options: CapabilityOptions;
}

/** For programs and for the commands of runs, through the same broker. */
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

/** What determines the providers: the rest of the config can change without a new broker. */
function wiringOf({ config: { capabilities, skills } }: LoadedConfig): string {
  return JSON.stringify([capabilities, skills.settings]);
}

/** `confirm` is asked if a call has nobody to ask. */
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

/** A missing or empty value could mean everybody. */
function usersOf(owner: ForgottenOwner): ForgottenUsers {
  const { userId, tenantId } = owner;
  const given = Object.values(owner).filter((value) => value !== undefined);
  if (given.length === 0 || given.some((value) => typeof value !== "string" || value.trim() === "")) {
    throw new UsageError("`capabilities.forget` needs a user to forget: `userId`, `tenantId` or both.", {
      hint: 'Pass non-empty strings: `capabilities.forget({ userId: "ada" })`.',
    });
  }
  const whole = ownerOf({ userId: userId ?? "", tenantId }) ?? "";
  return userId === undefined ? { prefix: whole } : { userId: whole };
}

function offerAuthorizing({ auth }: CapabilityBroker): Authorizing {
  /** `request` is `undefined` if the call takes a string, or none was given. */
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
  return answerFault("capability_access_denied", "A capability acts for a user, but the call names none.", {
    hint: "Name the user: `caller: { userId: … }`.",
  });
}

interface BrokerSource {
  /** A different string means a different broker. */
  wiring(): string;
  compose(): Promise<CapabilityBroker>;
}

interface HeldBroker {
  readonly wiring: string;
  readonly broker: Promise<CapabilityBroker>;
  calls: number;
}

/**
 * One broker for everyone, over the brokers that configs create: the first call creates one. The previous one ends with
 * its last pending call.
 */
export function followBroker({ wiring, compose }: BrokerSource): CapabilityBroker {
  let current: HeldBroker | undefined;
  const open = new Set<HeldBroker>();

  const end = async (held: HeldBroker): Promise<void> => {
    if (!open.delete(held)) return;
    const broker = await held.broker.catch(() => undefined); // Whoever asked first got the error.
    await broker?.close();
  };
  const retire = (held: HeldBroker): void => {
    end(held).catch(() => undefined); // It has answered everyone, and nobody waits for its end.
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
