/**
 * The API's answers. One function makes all requests. Answers to reads are kept by path, shown at once on the next
 * request, and then refreshed. In an export, all answers are in the page, and nothing is requested.
 */

import { done, type Result, refused } from "@metier/base/result";
import type { ApiError, ApiMe } from "@metier/service/api";
import { type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export interface Failure {
  /** 0 if the server could not be reached. */
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

type Method = "GET" | "POST" | "PUT" | "DELETE";

/** Who is signed in; `undefined` if nobody is, or if unknown yet. */
export const me: Signal<ApiMe | undefined> = signal(undefined);
/** Whether the server wants a sign-in. */
export const wantsSignIn: Signal<boolean> = signal(false);

const exported = readExported();

/** Whether this page is an exported file: it shows what it contains, and changes nothing. */
export const isExport: boolean = exported !== undefined;

function readExported(): Readonly<Record<string, unknown>> | undefined {
  const text = document.getElementById("metier-answers")?.textContent;
  return text ? (JSON.parse(text) as Readonly<Record<string, unknown>>) : undefined;
}

/** In an export: an answer that came with the page. */
export function exportedAnswer<Value>(path: string): Value | undefined {
  return exported?.[path] as Value | undefined;
}

export async function ask<Value>(
  path: string,
  method: Method = "GET",
  body?: unknown,
): Promise<Result<Value, Failure>> {
  if (exported) {
    const known = exportedAnswer<Value>(path);
    return method === "GET" && known !== undefined ? done(known) : refused(NOT_IN_EXPORT);
  }
  try {
    const csrf = me.value?.csrf;
    const response = await fetch(path, {
      method,
      headers: {
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...(method !== "GET" && csrf !== undefined && { "X-Metier-CSRF": csrf }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      credentials: "same-origin",
    });
    if (response.ok) return done((await response.json()) as Value);
    const failure = await readFailure(response);
    if (failure.status === 401) wantsSignIn.value = true;
    return refused(failure);
  } catch (fault) {
    return refused({ ...UNREACHABLE, hint: fault instanceof Error ? fault.message : undefined });
  }
}

const UNREACHABLE: Failure = { status: 0, code: "unreachable", message: "The server doesn't answer." };
const NOT_IN_EXPORT: Failure = {
  status: 0,
  code: "not_exported",
  message: "The export doesn't contain this.",
  hint: "Open it in the inspector: `metier inspect`.",
};

async function readFailure(response: Response): Promise<Failure> {
  const { status } = response;
  const body = (await response.json().catch(() => undefined)) as ApiError | undefined;
  return body?.error
    ? { status, ...body.error }
    : { status, code: "unknown", message: `The server answered with ${status}.` };
}

/** An answer as a view sees it: the last known one stays while a newer one loads. */
export interface Known<Value> {
  readonly value?: Value | undefined;
  readonly failure?: Failure | undefined;
  readonly isLoading: boolean;
}

const MOST_KEPT = 200;
/** The most recently used one is last. */
const kept = new Map<string, Signal<Known<unknown>>>();
/** How often each was requested: only the last answer counts. */
const asked = new WeakMap<object, number>();

/** The answer for a path, requested when a view first needs it. `undefined`: nothing is requested. */
export function useAnswer<Value>(path: string | undefined): Known<Value> {
  useEffect(() => {
    if (path !== undefined) void reload(path);
  }, [path]);
  return path === undefined ? { isLoading: false } : (entryOf<Value>(path).value as Known<Value>);
}

export async function reload(path: string): Promise<void> {
  const entry = entryOf(path);
  const number = (asked.get(entry) ?? 0) + 1;
  asked.set(entry, number);
  entry.value = { ...entry.peek(), isLoading: true };
  const answer = await ask<unknown>(path);
  if (asked.get(entry) !== number) return; // A later request is under way and knows more.
  // What a user may no longer see isn't shown from memory either.
  const isForbidden = !answer.ok && (answer.refusal.status === 401 || answer.refusal.status === 403);
  const value = isForbidden ? undefined : entry.peek().value;
  entry.value = answer.ok
    ? { value: answer.value, isLoading: false }
    : { value, failure: answer.refusal, isLoading: false };
}

/** Answers that a view shows now, or showed lately, and whose path starts with this. */
export function reloadAll(prefix: string): void {
  // A copy, because a used entry moves to the end of the map.
  for (const path of [...kept.keys()]) if (path.startsWith(prefix)) void reload(path);
}

function entryOf<Value>(path: string): Signal<Known<Value>> {
  const entry = kept.get(path) ?? signal<Known<unknown>>({ isLoading: true, value: exportedAnswer(path) });
  kept.delete(path);
  kept.set(path, entry);
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  return entry as Signal<Known<Value>>;
}

/** Who is signed in here; asked at the start, and after signing in. */
export async function findMe(): Promise<void> {
  const answer = await ask<ApiMe>("/v1/me");
  if (!answer.ok) return;
  me.value = answer.value;
  wantsSignIn.value = false;
}

export async function signIn(key: string): Promise<Failure | undefined> {
  const answer = await ask<ApiMe>("/v1/session", "POST", { key });
  if (!answer.ok) return answer.refusal;
  kept.clear(); // The previous user may have seen what this one may not.
  me.value = answer.value;
  wantsSignIn.value = false;
  return undefined;
}

export async function signOut(): Promise<void> {
  await ask("/v1/session", "DELETE");
  me.value = undefined;
  kept.clear();
  wantsSignIn.value = true;
}

/** Whether the signed-in user may do this. */
export function may(scope: string): boolean {
  const scopes = me.value?.scopes ?? [];
  return !isExport && (scopes.includes(scope) || scopes.includes("admin"));
}
