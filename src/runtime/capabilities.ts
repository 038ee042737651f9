/**
 * What a `Metier` does with capabilities for a program or a person. Nothing of it is loaded, and no provider is started,
 * before it is asked; how providers are wired follows the config as it is now.
 */
import type { CapabilityCaller, CapabilityListing } from "../capabilities/capability.ts";
import type {
  AuthFlow,
  BeginRequest,
  CapabilityBroker,
  CompletedAuth,
  CompleteRequest,
  ConfirmMutation,
  InvokeAnswer,
  InvokeRequest,
  PolledAuth,
  ProviderStatus,
} from "../capabilities/capability-broker.ts";
import { type Answer, done, refuse } from "../capabilities/capability-fault.ts";
import { tellStateError } from "../capabilities/state-error.ts";
import type { LoadedConfig } from "../config/config.ts";
import type { Environment } from "../host/find-command.ts";
import type { Places } from "../host/places.ts";
import { toCapabilityCaller } from "../invoke/capability-caller.ts";
import type { Caller } from "../invoke/invocation.ts";
import type { RunCapabilities } from "../run/run-capabilities.ts";
import { followBroker } from "./follow-broker.ts";
import type { CapabilityOptions } from "./metier-options.ts";

/** Everything is done for a user: a caller without `userId` is refused, as a value. */
export interface Capabilities {
  /** Sorted by id. What is not for this caller is left out, unless `all`. */
  list(caller?: Caller, options?: { readonly all?: boolean }): Promise<Answer<readonly CapabilityListing[]>>;
  invoke(request: InvokeRequest, options?: CapabilityCallOptions): Promise<Answer<InvokeAnswer>>;
  /** How accounts are linked. */
  readonly auth: Authorizing;
  /** As they are wired, with what went wrong; asking starts them. */
  providers(): Promise<readonly ProviderStatus[]>;
  /** Ends what was started. A program that does not call it can end all the same. */
  close(): Promise<void>;
}

export interface Authorizing {
  /** One that is pending for the same account is taken up again. */
  begin(request: BeginRequest, options?: AsCaller): Promise<Answer<AuthFlow>>;
  /** Pending ones of this caller, newest first. */
  list(filter?: FlowFilter, options?: AsCaller): Promise<Answer<readonly AuthFlow[]>>;
  complete(request: CompleteRequest, options?: AsCaller): Promise<Answer<CompletedAuth>>;
  /** From what the browser was sent to alone: the flow is found by its `state`. */
  completeCallback(callbackUrl: string, options?: AsCaller): Promise<Answer<CompletedAuth>>;
  /** Once, for a sign-in with a device code. */
  poll(flowId: string, options?: AsCaller): Promise<Answer<PolledAuth>>;
  unlink(request: UnlinkRequest, options?: AsCaller): Promise<Answer<{ readonly account: string }>>;
}

export interface UnlinkRequest {
  readonly capability: string;
  /** Needed where several are linked. */
  readonly account?: string;
}

export interface AsCaller {
  readonly caller?: Caller;
}

export interface CapabilityCallOptions extends AsCaller {
  /** Asked before something is changed. Default: that of `createMetier`; with neither, nothing is changed. */
  readonly confirm?: ConfirmMutation;
  readonly signal?: AbortSignal;
}

export interface FlowFilter {
  readonly capability?: string;
  readonly account?: string;
}

export interface CapabilityInputs {
  config(): LoadedConfig;
  readonly options: CapabilityOptions;
  readonly places: Places;
  readonly environment: Environment;
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
    forRuns: { broker: async () => broker, ...(confirm && { confirm }) },
  };
}

/** What decides which providers there are: everything else of the config may change without a new broker. */
function wiringOf({ config: { capabilities, skills } }: LoadedConfig): string {
  return JSON.stringify([capabilities, skills.settings]);
}

/** `confirm` is asked where a call brings nobody to ask. */
export function offerCapabilities(broker: CapabilityBroker, confirm?: ConfirmMutation): Capabilities {
  const { auth } = broker;
  return {
    list: (caller, options) => forCaller(caller, async (known) => done(await broker.list(known, options))),
    invoke(request, { caller, signal, ...own } = {}) {
      const asked = own.confirm ?? confirm;
      return forCaller(caller, (known) =>
        broker.invoke(known, request, { ...(asked && { confirm: asked }), ...(signal && { signal }) }),
      );
    },
    auth: {
      begin: (request, { caller } = {}) => forCaller(caller, (known) => auth.begin(known, request)),
      list: (filter, { caller } = {}) =>
        forCaller(caller, async (known) => done(await auth.list(known, filter))),
      complete: (request, { caller } = {}) => forCaller(caller, (known) => auth.complete(known, request)),
      completeCallback: (url, { caller } = {}) =>
        forCaller(caller, (known) => auth.completeCallback(known, url)),
      poll: (flowId, { caller } = {}) => forCaller(caller, (known) => auth.poll(known, flowId)),
      unlink: (request, { caller } = {}) => forCaller(caller, (known) => auth.unlink(known, request)),
    },
    providers: () => broker.providers(),
    close: () => broker.close(),
  };
}

async function forCaller<Value>(
  caller: Caller | undefined,
  work: (caller: CapabilityCaller) => Promise<Answer<Value>>,
): Promise<Answer<Value>> {
  const known = toCapabilityCaller(caller);
  if (known !== undefined) return tellStateError(() => work(known));
  return refuse(
    "capability_access_denied",
    "A capability is performed for a user, and it is not known who asks.",
    { hint: "Say who asks: `caller: { userId: … }`." },
  );
}
