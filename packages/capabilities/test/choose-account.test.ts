/** Which account is meant. */
import { expect, test } from "vitest";
import { chooseAccount } from "../src/accounts.ts";
import type { ProviderAccount } from "../src/capability.ts";

const account = (accountRef: string, more: Partial<ProviderAccount> = {}): ProviderAccount => ({
  accountRef,
  createdAt: "2026-01-01T00:00:00.000Z",
  credentialMaterial: {},
  metadata: {},
  ...more,
});

const NEEDED = { requiresAuth: true };
const WORK = account("a1", { accountName: "Work", accountEmail: "ann@work.example" });
const HOME = account("a2", { accountName: "Home", accountEmail: "Ann@Home.example" });

test("the only account is meant, also by its reference, name or email", () => {
  expect(chooseAccount("desk.mail", NEEDED, [WORK])).toEqual({ ok: true, value: WORK });
  for (const wanted of ["a2", "home", " HOME ", "ann@home.EXAMPLE"]) {
    expect(chooseAccount("desk.mail", NEEDED, [WORK, HOME], wanted)).toEqual({ ok: true, value: HOME });
  }
});

test("without an account, or without the one that is named, a sign-in is needed", () => {
  const required = { ok: false, fault: { code: "capability_auth_required" } };
  expect(chooseAccount("desk.mail", NEEDED, [])).toMatchObject(required);
  expect(chooseAccount("desk.mail", NEEDED, [WORK], "home")).toMatchObject(required);
  expect(chooseAccount("desk.mail", { requiresAuth: false }, [], "home")).toMatchObject(required);
});

test("several accounts are ambiguous until one is named, and a reference beats a name", () => {
  const ambiguous = { ok: false, fault: { code: "capability_account_ambiguous" } };
  const unnamed = chooseAccount("desk.mail", NEEDED, [WORK, HOME]);
  expect(unnamed).toMatchObject(ambiguous);
  expect(!unnamed.ok && unnamed.fault.hint).toContain("`a1` and `a2`");
  const twin = account("a3", { accountName: "work" });
  expect(chooseAccount("desk.mail", NEEDED, [WORK, twin], "Work")).toMatchObject(ambiguous);
  const named = account("work", { accountName: "Other" });
  expect(chooseAccount("desk.mail", NEEDED, [WORK, named], "work")).toEqual({ ok: true, value: named });
});

test("an operation that needs no account gets none by itself", () => {
  expect(chooseAccount("desk.mail", { requiresAuth: false }, [WORK])).toEqual({ ok: true, value: undefined });
  expect(chooseAccount("desk.mail", { requiresAuth: false }, [WORK], "a1")).toEqual({
    ok: true,
    value: WORK,
  });
});
