/**
 * A `Metier` for one user: everything that reads and runs, bound to the user and what is theirs. Views share the
 * snapshot and everything read for it; creating one reads nothing. Views are isolated from each other.
 */
import { resolve } from "node:path";
import { UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { showValue } from "@metier/base/text";
import type { ConfirmMutation } from "@metier/capabilities";
import {
  type Budget,
  type Caller,
  checkCallOptions,
  checkProgramTools,
  createBudget,
  ownerOf,
  type RunRequest,
  type SkillLibrary,
  type SkillStore,
  skillTools,
} from "@metier/run";
import type {
  Authorizing,
  Capabilities,
  CapabilityCallOptions,
  FlowFilter,
  UnlinkRequest,
} from "./capabilities.ts";
import { type CatalogReading, readCatalog } from "./catalog-reading.ts";
import type { Disclosure } from "./disclosure.ts";
import type { DurableRuns } from "./durable-runs.ts";
import { createNarrowings, type Narrowing } from "./narrowing.ts";
import type { Remote } from "./remote.ts";
import { createRunning, type Running, type RunningInputs } from "./running.ts";
import { createRuns, type Runs } from "./runs.ts";
import { checkView, type ViewOptions } from "./view-options.ts";

/**
 * Returned by `metier.for`. The methods are those of `Metier`; a `caller` passed to them must not be another user.
 *
 * @example
 * ```ts
 * const view: MetierView = metier.for({ userId: "ada", tenantId: "acme" });
 * const { status, text } = await view.run({ skill: "report", message: "What is new?" });
 * console.log(status, text, view.budget.usage.totalTokens);
 * ```
 */
export interface MetierView
  extends CatalogReading,
    Disclosure,
    Pick<
      Running,
      | "prepare"
      | "activate"
      | "invoke"
      | "run"
      | "start"
      | "useSkillTool"
      | "offerSkills"
      | "chat"
      | "script"
      | "plan"
    > {
  /** The user that everything is done for. */
  readonly userId: string;
  /** The user's tenant. */
  readonly tenantId?: string | undefined;
  /** What this view and everything it started have used; limited by `limits.maxTotalTokens` and `maxTotalCost`. */
  readonly budget: Pick<Budget, "usage" | "cost" | "isPriced" | "reached">;
  /** What providers do for this user. */
  readonly capabilities: ViewCapabilities;
  /** This user's kept runs: nobody else's are listed, read or deleted. */
  readonly runs: Runs;
  /** The skills a model may use for this user, as skill tools expect them. */
  skillLibrary(): SkillLibrary;
  /** What a skill keeps for this user between runs, by key. Throws `SkillNotFoundError`. */
  store(skill: string): SkillStore;
  /** For the program's own engine: continues a durable run of this user that it holds. */
  readonly durable: Pick<DurableRuns, "advance">;
}

/** Like `metier.capabilities`, for the view's user. */
export interface ViewCapabilities {
  /** Sorted by id. Leaves out what isn't for this user, unless `all` is set. */
  list(options?: {
    /** Whether to also list what isn't for this user. Default: `false`. */
    readonly all?: boolean;
  }): ReturnType<Capabilities["list"]>;
  /** Performs one operation; asks for confirmation before a change. */
  invoke(
    request: Parameters<Capabilities["invoke"]>[0],
    options?: Omit<CapabilityCallOptions, "caller">,
  ): ReturnType<Capabilities["invoke"]>;
  /** Links this user's accounts. */
  readonly auth: ViewAuthorizing;
}

/** Like `metier.capabilities.auth`, for the view's user. */
export interface ViewAuthorizing {
  /** Resumes one that is pending for the same account. */
  begin(request: Parameters<Authorizing["begin"]>[0]): ReturnType<Authorizing["begin"]>;
  /** This user's pending sign-ins, newest first. */
  list(filter?: FlowFilter): ReturnType<Authorizing["list"]>;
  /** With what the user got at the end of the sign-in. */
  complete(request: Parameters<Authorizing["complete"]>[0]): ReturnType<Authorizing["complete"]>;
  /** With only the address the browser was sent to: its `state` identifies the flow. */
  completeCallback(callbackUrl: string): ReturnType<Authorizing["completeCallback"]>;
  /** Checks a device-code sign-in once. */
  poll(flowId: string): ReturnType<Authorizing["poll"]>;
  /** Forgets an account of this user. */
  unlink(request: UnlinkRequest): ReturnType<Authorizing["unlink"]>;
}

export interface ViewParts extends RunningInputs {
  readonly load: Remote["load"];
  readonly offered: Capabilities;
}

/** One per `Metier`. */
export function createViews(parts: ViewParts): (options: ViewOptions) => MetierView {
  const narrowings = createNarrowings(parts);
  return (options) => {
    checkView(options);
    const { allow, deny, limits = {} } = options;
    const { maxTotalTokens: _, maxTotalCost: __, ...each } = limits;
    return createView(parts, options, narrowings({ allow, deny, limits: each }));
  };
}

function createView(parts: ViewParts, options: ViewOptions, narrowing: Narrowing): MetierView {
  const { userId, tenantId, limits = {} } = options;
  const { maxTotalTokens: maxTokens, maxTotalCost: maxCost } = limits;
  const budget = createBudget({ owner: `\`${userId}\``, maxTokens, maxCost });
  const running = createRunning(inputsFor(parts, options, narrowing, budget));
  const bind = bindTo(options);
  const caller = bind("metier.for", {}).caller;
  return {
    userId,
    tenantId,
    budget,
    runs: createRuns(parts.keeping, { userId, tenantId }),
    ...readCatalog(narrowing.current),
    ...narrowing.disclosure,
    capabilities: bindCapabilities(parts.offered, caller, options.confirm),
    prepare: async (request) => running.prepare(bind("prepare", request)),
    activate: async (request, how) => running.activate(bind("activate", request), how),
    invoke: async (request) => running.invoke(bind("invoke", request)),
    run: async (request) => running.run(bind("run", request)),
    start: (request) => running.start(bind("start", request)),
    useSkillTool: (given = {}) => running.useSkillTool(bind("useSkillTool", given)),
    skillTools(given) {
      checkCallOptions("skillTools", given);
      return skillTools(running.skillLibrary(caller), given);
    },
    skillLibrary: () => running.skillLibrary(caller),
    offerSkills: async (given = {}) => running.offerSkills(bind("offerSkills", given)),
    chat: async (given = {}) => running.chat(bind("chat", given)),
    script: async (request) => running.script(bind("script", request, ["write", "confirm"])),
    plan: async (request) => running.plan(bind("plan", request)),
    store: (skill) => running.store(skill, { user: ownerOf(caller) ?? userId }),
    durable: { advance: running.durable.advance },
  };
}

/** The inputs of a view's own run stage: the shared ones, plus what belongs to this user. */
function inputsFor(
  parts: ViewParts,
  { cwd, env, models, ownModels, tools = [], onlyTools, search, confirm }: ViewOptions,
  { current, disclosure, isHidden }: Narrowing,
  budget: Budget,
): RunningInputs {
  const { options, capabilities, base, had } = parts;
  const allTools = [...(options.tools ?? []), ...tools];
  checkProgramTools(allTools);
  return {
    ...parts,
    current,
    disclosure,
    isHidden,
    options: {
      ...options,
      tools: allTools,
      ...(models && { models: { ...options.models, ...models } }),
      ...(search && { search }),
    },
    capabilities: confirm ? { ...capabilities, confirm } : capabilities,
    had: {
      cwd: cwd === undefined ? had.cwd : resolve(base, cwd),
      env: env && { ...env },
      budget,
      onlyTools: onlyTools && [...onlyTools],
      ownModels,
    },
  };
}

/** What a request leaves open comes from the view. */
type Default = "write" | "approve" | "askUser" | "confirm";

type Bind = <Request extends Pick<RunRequest, "caller">>(
  call: string,
  request: Request,
  defaults?: readonly Default[],
) => Request & { readonly caller: Caller };

/** A request with its caller. */
function bindTo({ userId, tenantId, chat, ...options }: ViewOptions): Bind {
  const own = presentFields({ userId, tenantId });
  return (call, request, defaults = ["write", "approve", "askUser", "confirm"]) => {
    const asked = request as Partial<Record<Default, unknown>>;
    const open = defaults.filter((name) => asked[name] === undefined && options[name] !== undefined);
    return {
      ...request,
      ...Object.fromEntries(open.map((name) => [name, options[name]])),
      caller: { ...chat, ...presentFields(checkCaller(call, own, request.caller)), ...own },
    };
  };
}

/** A program that has a view for one user and names another has mixed them up. */
function checkCaller(call: string, own: Caller, caller: Caller = {}): Caller {
  const { userId = own.userId, tenantId = own.tenantId, isLocal = false, ...chat } = caller;
  if (userId === own.userId && tenantId === own.tenantId && !isLocal) return chat;
  const other = isLocal ? "the person at this machine" : showValue(ownerOf({ userId, tenantId }) ?? "");
  throw new UsageError(`A view for ${showValue(ownerOf(own) ?? "")} cannot call \`${call}\` for ${other}.`, {
    hint: "Create a view for each user: `metier.for({ userId: … })`.",
  });
}

function bindCapabilities(
  { list, invoke, auth }: Capabilities,
  caller: Caller,
  confirm: ConfirmMutation | undefined,
): ViewCapabilities {
  const as = { caller };
  return {
    list: (options) => list(caller, options),
    invoke: (request, options) => invoke(request, { ...presentFields({ confirm }), ...options, caller }),
    auth: {
      begin: (request) => auth.begin(request, as),
      list: (filter) => auth.list(filter, as),
      complete: (request) => auth.complete(request, as),
      completeCallback: (url) => auth.completeCallback(url, as),
      poll: (flowId) => auth.poll(flowId, as),
      unlink: (request) => auth.unlink(request, as),
    },
  };
}
