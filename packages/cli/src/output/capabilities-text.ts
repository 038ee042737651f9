/**
 * Capabilities as text for a person, or for a model that runs the command: one labelled line per fact, with all ids,
 * so that the output is enough to check what was done. All values come from outside and are made safe here.
 */
import { safeLine, safeText } from "@metier/base/text";
import {
  type AuthFlow,
  CAPABILITY_CODES,
  type CapabilityFault,
  type CapabilityListing,
  type CapabilityOperation,
  type CompletedAuth,
  type InvokeAnswer,
  type LinkedAccount,
  type MutationPlan,
  type ProviderStatus,
} from "@metier/capabilities";
import { jsonText, type Style } from "./style.ts";

type Row = readonly [label: string, value: string | undefined];

export function capabilitiesText(listings: readonly CapabilityListing[], style: Style): string {
  return withTotal(
    listings.map((listing) => section(`${listing.id} - ${listing.description}`, listingRows(listing), style)),
  );
}

function listingRows(listing: CapabilityListing): readonly Row[] {
  const { id, allowedChatTypes, sensitive, available, linkedAccounts, operations } = listing;
  const chats = allowedChatTypes.length > 0 ? allowedChatTypes.join(", ") : "all";
  return [
    ["available", available ? "yes" : "no, not in this chat"],
    ["chats", sensitive ? `${chats} (sensitive)` : chats],
    ["sign-in", signInText(listing)],
    ...linkedAccounts.map((account): Row => ["account", accountText(account)]),
    ...operations.map((operation): Row => ["operation", operationText(operation)]),
    ["use", `metier capability invoke ${id} ${operations[0]?.name ?? "OPERATION"} --input JSON`],
  ];
}

function signInText({ id, requiresAuth, authenticated }: CapabilityListing): string {
  if (!requiresAuth) return "not needed";
  return authenticated ? "done" : `needed, metier capability auth begin ${id}`;
}

export function accountText({ accountRef, accountName, accountEmail, createdAt }: LinkedAccount): string {
  return [accountRef, accountName, accountEmail, `since ${createdAt}`]
    .filter((part) => part !== undefined)
    .join(", ");
}

function operationText(operation: CapabilityOperation): string {
  const { name, description, mutating, requiresAuth } = operation;
  const notes = [
    ...inputNames(operation),
    ...(mutating ? ["changes something"] : []),
    ...(requiresAuth ? [] : ["without sign-in"]),
  ];
  return `${name} - ${description}${notes.length > 0 ? ` (${notes.join("; ")})` : ""}`;
}

/** `input: to, subject, [cc]` */
function inputNames({ inputSchema = {} }: CapabilityOperation): readonly string[] {
  const { properties, required } = inputSchema;
  const names = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const shown = names.map((name) => (needed.includes(name) ? name : `[${name}]`));
  return shown.length > 0 ? [`input: ${shown.join(", ")}`] : [];
}

export function providersText(providers: readonly ProviderStatus[], style: Style): string {
  return withTotal(
    providers.map((provider) => {
      const { name, namespace, origin, kind, command, capabilities, fault } = provider;
      const facts = {
        namespace,
        from: origin,
        kind,
        command: command?.join(" "),
        capabilities: capabilities.length > 0 ? capabilities.join(", ") : "none",
        fault: fault && `${fault.code}: ${fault.message}`,
        "what to do": fault?.hint,
      };
      return section(name, Object.entries(facts), style);
    }),
  );
}

export function answerText(answer: InvokeAnswer): string {
  const { requestId, capability, operation, account, isRepeat, output } = answer;
  const repeat = isRepeat ? "yes, an earlier call with this key gave this result" : undefined;
  const facts = tell({ request: requestId, capability, operation, account, repeat });
  return `${facts}\noutput:\n${jsonText(output)}`;
}

export function flowText(flow: AuthFlow): string {
  const { flowId, capability, account, flowType, authUrl, userCode, expiresAt } = flow;
  const next =
    flowType === "device_code"
      ? `metier capability auth poll ${flowId} --wait`
      : `metier capability auth complete ${flowId}`;
  const where = { open: authUrl, "code to enter there": userCode, expires: expiresAt };
  const facts = tell({ flow: flowId, capability, account, kind: flowType, ...where });
  return `${facts}\nthen: ${safeLine(next)}`;
}

export function flowsText(flows: readonly AuthFlow[]): string {
  return withTotal(flows.map(flowText));
}

export function completedText(completed: CompletedAuth): string {
  const { flowId: flow, capability, accountRef: account, accountName: name, accountEmail: email } = completed;
  return tell({ flow, status: "complete", capability, account, name, email });
}

export function pendingText(flow: string, retryAfterSeconds: number): string {
  return tell({ flow, status: "pending", "ask again in": `${retryAfterSeconds} s` });
}

export function unlinkedText(capability: string, account: string): string {
  return tell({ capability, account, status: "unlinked" });
}

const OWN_WORD = "The provider reported this. `metier capability list` shows the inputs it takes.";

/** Formatted like any other error, with its code and what to do. */
export function faultText({ code, message, hint, retryAfterSeconds }: CapabilityFault): string {
  const isOwn = !Object.hasOwn(CAPABILITY_CODES, code);
  const todo = [
    ...(hint === undefined ? (isOwn ? [OWN_WORD] : []) : [hint]),
    ...(retryAfterSeconds === undefined ? [] : [`Try again in ${retryAfterSeconds} s.`]),
  ].join(" ");
  return `error: ${safeText(message)} (${safeLine(code)})${todo === "" ? "" : `\n  → ${safeText(todo)}`}`;
}

/** The whole value: nobody can agree to what they can't see. */
/** What a person must see of a change before they agree. */
export interface ShownChange extends Pick<MutationPlan, "capability" | "account" | "accountName" | "input"> {
  /** Absent if it waits in its run's journal, which knows it by another id. */
  readonly planId?: string | undefined;
  readonly caller: Pick<MutationPlan["caller"], "userId" | "skill">;
  readonly operation: Pick<MutationPlan["operation"], "name" | "description">;
}

export function mutationText(plan: ShownChange): string {
  const { planId, caller, capability, operation, account, accountName, input } = plan;
  const facts = {
    plan: planId,
    for: caller.userId,
    skill: caller.skill,
    capability,
    operation: `${operation.name} - ${operation.description}`,
    account: account && [account, ...(accountName ? [accountName] : [])].join(", "),
  };
  return `${lines(Object.entries(facts), "  ")}\n  input:\n${jsonText(input).replace(/^/gm, "    ")}`;
}

function section(title: string, rows: readonly Row[], style: Style): string {
  return `${style.bold(safeLine(title))}\n${lines(rows, "  ")}`;
}

function tell(facts: Readonly<Record<string, string | undefined>>): string {
  return lines(Object.entries(facts));
}

function lines(rows: readonly Row[], indent = ""): string {
  return rows
    .flatMap(([label, value]) => (value === undefined ? [] : [`${indent}${label}: ${safeLine(value)}`]))
    .join("\n");
}

function withTotal(parts: readonly string[]): string {
  return [...parts, `Total: ${parts.length}`].join("\n\n");
}
