/** From a request to a provider: every check, in its order. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ALICE, BOB, openPostOffice } from "../../../test/support/capability-broker.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { answerFault, answerWith } from "../src/capability.ts";
import type { AuditEntry } from "../src/capability-broker.ts";
import { digestName, userFolder } from "../src/state-files.ts";

const READ = { capability: "post.mail", operation: "read" };
const NOW = { capability: "post.clock", operation: "now" };

const faultCode = (code: string): object => ({ ok: false, fault: { code } });

test("a capability, an operation and a chat that do not exist or fit are refused before the provider hears of it", async () => {
  const { broker, calls, link } = openPostOffice();
  await link(ALICE, "a1");
  const cases = [
    [ALICE, { ...READ, capability: "post.none" }, "capability_not_found"],
    [ALICE, { ...READ, capability: "other.mail" }, "capability_not_found"],
    [ALICE, { ...READ, capability: "mail" }, "capability_not_found"],
    [{ ...ALICE, chatType: "group" }, READ, "capability_access_denied"],
    [{ userId: "alice" }, READ, "capability_access_denied"],
    [{ ...ALICE, declared: ["post.clock"] }, READ, "capability_access_denied"],
    [ALICE, { ...READ, operation: "burn" }, "capability_invalid_input"],
    [ALICE, { ...READ, input: { limit: "many" } }, "capability_invalid_input"],
    [ALICE, { ...READ, input: { limit: 0 } }, "capability_invalid_input"],
    [ALICE, { ...READ, input: { strange: 1 } }, "capability_invalid_input"],
    [ALICE, { ...READ, idempotencyKey: "" }, "capability_invalid_input"],
    [ALICE, { ...READ, idempotencyKey: "x".repeat(201) }, "capability_invalid_input"],
    [ALICE, { ...READ, planId: "plan_0" }, "capability_invalid_input"],
  ] as const;
  for (const [caller, request, code] of cases) {
    expect(await broker.invoke(caller, request), JSON.stringify(request)).toMatchObject(faultCode(code));
  }
  expect(calls).toEqual([]);
});

verifies(
  "case 120",
  "an operation that requires it needs a linked account of the caller, and names it when there are several",
  async () => {
    const { broker, calls, link } = openPostOffice();
    expect(await broker.invoke(ALICE, READ)).toMatchObject(faultCode("capability_auth_required"));
    await link(ALICE, "a1", { accountName: "Work", accountEmail: "ann@work.example" });
    expect(await broker.invoke(ALICE, READ)).toMatchObject({ ok: true, value: { account: "a1" } });
    expect(await broker.invoke(BOB, READ)).toMatchObject(faultCode("capability_auth_required"));
    expect(await broker.invoke(BOB, { ...READ, account: "a1" })).toMatchObject(
      faultCode("capability_auth_required"),
    );
    await link(ALICE, "a2");
    expect(await broker.invoke(ALICE, READ)).toMatchObject(faultCode("capability_account_ambiguous"));
    expect(await broker.invoke(ALICE, { ...READ, account: "ANN@work.example" })).toMatchObject({
      value: { account: "a1" },
    });
    expect(calls.map(({ request }) => request.account?.accountRef)).toEqual(["a1", "a1"]);
  },
);

verifies(["case 124", 172], "the idempotency key and the trusted context reach the provider", async () => {
  const { broker, calls, link } = openPostOffice();
  await link(ALICE, "a1", { credentialMaterial: { credential_ref: "vlt_1" } });
  const caller = { ...ALICE, chatId: "42", runId: "r1", timezone: "Europe/Vienna" };
  await broker.invoke(caller, { ...READ, input: { limit: 3 }, idempotencyKey: "key 1" });
  const [call] = calls;
  expect(call?.request).toEqual({
    capabilityId: "post.mail",
    operation: "read",
    input: { limit: 3 },
    idempotencyKey: "key 1",
    account: {
      accountRef: "a1",
      createdAt: "2026-01-01T00:00:00.000Z",
      credentialMaterial: { credential_ref: "vlt_1" },
      metadata: {},
    },
  });
  expect(call?.context.caller).toEqual(caller);
  const [, claims = ""] = (await call?.context.token())?.split(".") ?? [];
  expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({
    sub: "alice",
    aud: "post",
  });
  const ref = await call?.context.vault.put({ secret: "s" });
  await broker.invoke(BOB, NOW);
  expect(await calls[1]?.context.vault.get(ref ?? "")).toBeUndefined();
  expect(await call?.context.vault.get(ref ?? "")).toEqual({ secret: "s" });
});

test("an input gets the defaults of its schema", async () => {
  const { broker, calls, link } = openPostOffice();
  await link(ALICE, "a1");
  expect(await broker.invoke(ALICE, READ)).toMatchObject({ ok: true });
  expect(calls[0]?.request.input).toEqual({ limit: 10 });
});

verifies(
  "case 123",
  "an output with a credential in it, or that is not what was promised, is not passed on",
  async () => {
    const outputs = [
      { letters: [{ headers: { refreshToken: "x" } }] },
      { letters: "none" },
      {},
      [],
      "text",
      null,
    ];
    for (const output of outputs) {
      const { broker, link } = openPostOffice({ perform: () => answerWith(output as never) });
      await link(ALICE, "a1");
      expect(await broker.invoke(ALICE, READ), JSON.stringify(output)).toMatchObject(
        faultCode("capability_invalid_output"),
      );
    }
  },
);

test("an answer says what was asked, with an id of its own", async () => {
  const { broker } = openPostOffice({ perform: () => answerWith({ time: "noon" }) });
  const answer = await broker.invoke(ALICE, NOW);
  expect(answer).toEqual({
    ok: true,
    value: {
      requestId: expect.stringMatching(/^cap_[0-9a-f]{16}$/),
      capability: "post.clock",
      operation: "now",
      output: { time: "noon" },
      isRepeat: false,
    },
  });
});

test("a provider that throws or hangs is not available, and its own faults pass", async () => {
  const throwing = openPostOffice({ perform: () => Promise.reject(new Error("gone")) });
  expect(await throwing.broker.invoke(ALICE, NOW)).toMatchObject(faultCode("capability_backend_unavailable"));
  const hanging = openPostOffice({ perform: () => new Promise(() => undefined), timeoutMs: 10 });
  expect(await hanging.broker.invoke(ALICE, NOW)).toMatchObject(faultCode("capability_backend_unavailable"));
  const own = openPostOffice({ perform: () => ({ ok: false, fault: { code: "quota", message: "Full." } }) });
  expect(await own.broker.invoke(ALICE, NOW)).toMatchObject(faultCode("quota"));
});

test("a caller who gives up is answered, and the provider is told", async () => {
  const control = new AbortController();
  let told: AbortSignal | undefined;
  const { broker } = openPostOffice({
    perform: (_request, { signal }) => {
      told = signal;
      control.abort();
      return new Promise(() => undefined);
    },
  });
  const answer = await broker.invoke(ALICE, NOW, { signal: control.signal });
  expect(answer).toMatchObject(faultCode("capability_cancelled"));
  expect(told?.aborted).toBe(true);
});

test("one user's calls to one capability are limited, and it is said when there is room again", async () => {
  let time = 0;
  const { broker, calls } = openPostOffice({ rateLimit: 2, now: () => time });
  await broker.invoke(ALICE, NOW);
  await broker.invoke(ALICE, NOW);
  expect(await broker.invoke(ALICE, NOW)).toMatchObject({
    ok: false,
    fault: { code: "capability_rate_limited", retryAfterSeconds: 60 },
  });
  expect(await broker.invoke(BOB, NOW)).toMatchObject({ ok: true });
  time = 60_000;
  expect(await broker.invoke(ALICE, NOW)).toMatchObject({ ok: true });
  expect(calls).toHaveLength(4);
});

test("every call is in the audit log, however it ended, without input, output or secret", async () => {
  const heard: AuditEntry[] = [];
  const { broker, folder, link } = openPostOffice({
    perform: () => answerWith({ letters: ["output-text"] }),
  });
  await link(ALICE, "a1");
  const onAudit = (entry: AuditEntry): void => void heard.push(entry);
  const caller = { ...ALICE, chatId: "42", runId: "r1", skill: "letters" };
  await broker.invoke(caller, { ...READ, input: { limit: 77_777 } }, { onAudit });
  await broker.invoke(caller, { ...READ, capability: "my password is hunter2" }, { onAudit });
  await broker.invoke(caller, { ...READ, input: { strange: "input-text" } }, { onAudit });
  const text = readFileSync(join(folder, "audit.jsonl"), "utf8");
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as AuditEntry);
  expect(lines).toEqual(heard);
  expect(lines[0]).toEqual({
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    requestId: expect.stringMatching(/^cap_[0-9a-f]{16}$/),
    action: "invoke",
    user: "alice",
    chatId: "42",
    runId: "r1",
    skill: "letters",
    capability: "post.mail",
    operation: "read",
    account: "a1",
    mutating: false,
    inputDigest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    outcome: "ok",
    durationMs: expect.any(Number),
  });
  expect(lines.map(({ outcome }) => outcome)).toEqual([
    "ok",
    "capability_not_found",
    "capability_invalid_input",
  ]);
  for (const secret of ["77777", "output-text", "input-text", "hunter2"]) expect(text).not.toContain(secret);
});

test("what cannot be recorded is not given out", async () => {
  const { broker, folder } = openPostOffice({ perform: () => answerWith({ time: "noon" }) });
  mkdirSync(join(folder, "audit.jsonl"), { recursive: true });
  const answer = await broker.invoke(ALICE, NOW);
  expect(answer).toMatchObject(faultCode("capability_backend_unavailable"));
  rmSync(join(folder, "audit.jsonl"), { recursive: true });
  const heard = { onAudit: () => Promise.reject(new Error("deaf")).catch(() => undefined) as never };
  expect(await broker.invoke(ALICE, NOW, heard)).toMatchObject({ ok: true });
  const throwing = {
    onAudit: (): void => {
      throw new Error("deaf");
    },
  };
  expect(await broker.invoke(ALICE, NOW, throwing)).toMatchObject({ ok: true });
});

test("a provider that could not be asked is another matter than one that does not exist", async () => {
  const { broker } = openPostOffice({ definitions: [{ id: "post.mail" }] });
  const answer = await broker.invoke(ALICE, READ);
  expect(answer).toMatchObject(faultCode("capability_backend_unavailable"));
  expect(!answer.ok && answer.fault.message).toContain("`post.mail` has no description");
});

test("a damaged file of one user is told to that user, and to nobody else", async () => {
  const { broker, folder, link } = openPostOffice();
  await link(ALICE, "a1");
  await link(BOB, "b1");
  const file = join(userFolder(join(folder, "accounts"), "alice"), "post.mail", `${digestName("a1")}.json`);
  writeFileSync(file, "{");
  const answer = await broker.invoke(ALICE, READ);
  expect(answer).toMatchObject(faultCode("capability_backend_unavailable"));
  expect(!answer.ok && answer.fault.message).toContain("is damaged");
  expect(await broker.invoke(BOB, READ)).toMatchObject({ ok: true });
});

test("refusals of a provider are values, not exceptions", async () => {
  const { broker } = openPostOffice({
    perform: () => answerFault("capability_auth_required", "The account has ended."),
  });
  expect(await broker.invoke(ALICE, NOW)).toMatchObject(faultCode("capability_auth_required"));
});
