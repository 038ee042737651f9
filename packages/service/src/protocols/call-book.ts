/**
 * The tool calls of a run as clients name them: which were already shown, which a person was asked about, and which
 * were refused.
 */
import type { JsonObject } from "@metier/base/json";

/** The tool that a skill asks its user with. Its calls are sent as questions. */
export const ASK_USER = "ask_user";

/** Some providers restart the numbering of calls with each answer, so the step is part of the name. */
export function callKey({ step, callId }: JsonObject): string {
  return `${step}-${callId}`;
}

interface CallBook {
  /** The call that an event reports; `undefined`: it reports none, or it is a question. */
  take(event: JsonObject): TakenCall | undefined;
  /** The call that an approval is about. A child run's call was never shown, so the approval's id becomes its id. */
  callFor(approval: JsonObject): { readonly id: string; readonly isNew: boolean };
}

interface TakenCall {
  readonly id: string;
  readonly kind: "begun" | "ended";
  /** It wasn't shown before. */
  readonly isNew: boolean;
  /** A person said no. */
  readonly isRefused: boolean;
}

/** `earlier`: events that the client has already seen. */
export function openCallBook(earlier: readonly JsonObject[]): CallBook {
  const shown = new Set<string>();
  const denied = new Set<string>();
  /** By approval. */
  const asked = new Map<string, string>();
  const show = (id: string): boolean => {
    const isNew = !shown.has(id);
    shown.add(id);
    return isNew;
  };
  const take: CallBook["take"] = (event) => {
    const { type, tool, questionId, decision } = event;
    const id = callKey(event);
    if (tool === ASK_USER) return undefined;
    if (type === "approval-asked" && event.kind === undefined) asked.set(String(questionId), id);
    if (type === "tool-called" && decision === "deny") denied.add(id);
    if (type === "approval-asked" || type === "tool-called")
      return event.kind === undefined ? { id, kind: "begun", isNew: show(id), isRefused: false } : undefined;
    if (type !== "tool-finished") return undefined;
    const isRefused = denied.has(id) && [...asked.values()].includes(id);
    return { id, kind: "ended", isNew: show(id), isRefused };
  };
  for (const event of earlier) take(event);
  return {
    take,
    callFor({ id: approval }) {
      const id = asked.get(String(approval)) ?? String(approval);
      return { id, isNew: show(id) };
    },
  };
}
