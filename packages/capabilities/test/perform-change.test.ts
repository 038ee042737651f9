/** Operations that change something: confirmed, recorded, and with a key made once. */
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@metier/base/json";
import { expect, test } from "vitest";
import {
  ALICE,
  BOB,
  openPostOffice,
  type PostOffice,
  type PostOptions,
} from "../../../test/support/capability-broker.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { type Answer, answerFault, answerWith } from "../src/capability.ts";
import type { AuditEntry, MutationPlan } from "../src/capability-broker.ts";

const SEND = { capability: "post.mail", operation: "send", input: { to: "bob" } };
const FILE = { capability: "post.mail", operation: "file", input: { letter: "m1" } };
const YES = { confirm: () => "yes" as const };

const faultCode = (code: string): object => ({ ok: false, fault: { code } });
const UNKNOWN = faultCode("capability_outcome_unknown");

async function open(options: PostOptions = {}): Promise<PostOffice> {
  const office = openPostOffice({ perform: () => answerWith({ id: "m1" }), ...options });
  await office.link(ALICE, "a1");
  await office.link(BOB, "b1");
  return office;
}

function readOutcomes({ folder }: PostOffice): readonly string[] {
  const lines = readFileSync(join(folder, "audit.jsonl"), "utf8").trimEnd().split("\n");
  return lines.map((line) => (JSON.parse(line) as AuditEntry).outcome);
}

test("without anybody to ask the answer is no", async () => {
  const office = await open();
  const answer = await office.broker.invoke(ALICE, SEND);
  expect(answer).toMatchObject(faultCode("capability_mutation_not_confirmed"));
  expect(office.calls).toEqual([]);
  expect(readOutcomes(office)).toEqual(["capability_mutation_not_confirmed"]);
});

test("whoever is asked sees exactly what is to be done", async () => {
  const { broker, calls, link } = await open();
  await link(ALICE, "a1", { accountName: "Alice", accountEmail: "alice@example.org" });
  const seen: MutationPlan[] = [];
  const confirm = (plan: MutationPlan): "yes" => {
    seen.push(plan);
    return "yes";
  };
  expect(await broker.invoke(ALICE, SEND, { confirm })).toMatchObject({
    ok: true,
    value: { output: { id: "m1" } },
  });
  expect(seen).toEqual([
    {
      planId: expect.stringMatching(/^plan_[0-9a-f]{16}$/),
      fingerprint: expect.stringMatching(/^sha256:/),
      caller: ALICE,
      capability: "post.mail",
      operation: expect.objectContaining({ name: "send", mutating: true }),
      account: "a1",
      accountName: "alice@example.org",
      input: { to: "bob" },
    },
  ]);
  expect(calls).toHaveLength(1);
});

test("no, an answer that is none, and a question that fails are all no yes", async () => {
  const { broker, calls } = await open();
  const answers = [
    () => "no",
    () => "maybe",
    () => true,
    () => undefined,
    () => Promise.reject(new Error("closed")),
  ];
  for (const confirm of answers) {
    expect(await broker.invoke(ALICE, SEND, { confirm: confirm as never })).toMatchObject(
      faultCode("capability_mutation_not_confirmed"),
    );
  }
  expect(calls).toEqual([]);
});

test("what is put off is done when its plan is asked for again and confirmed, and only as it was planned", async () => {
  const { broker, calls } = await open();
  const plans: string[] = [];
  const later = (plan: MutationPlan): "later" => {
    plans.push(plan.planId);
    return "later";
  };
  const first = await broker.invoke(ALICE, SEND, { confirm: later });
  expect(first).toMatchObject(faultCode("capability_mutation_not_confirmed"));
  const [planId = ""] = plans;
  expect(!first.ok && first.fault.hint).toContain(planId);
  const mismatch = faultCode("capability_mutation_plan_mismatch");
  expect(await broker.invoke(ALICE, { ...SEND, input: { to: "eve" }, planId }, YES)).toMatchObject(mismatch);
  expect(await broker.invoke(BOB, { ...SEND, planId }, YES)).toMatchObject(mismatch);
  expect(calls).toEqual([]);
  expect(await broker.invoke(ALICE, { ...SEND, planId }, YES)).toMatchObject({ ok: true });
  expect(await broker.invoke(ALICE, { ...SEND, planId }, YES)).toMatchObject(mismatch);
  expect(calls).toHaveLength(1);
});

test("a change is in the audit log before it is made, and after", async () => {
  const office = await open({ perform: () => answerWith({ seen: readOutcomes(office).length }) });
  expect(await office.broker.invoke(ALICE, SEND, YES)).toMatchObject({
    ok: true,
    value: { output: { seen: 1 } },
  });
  expect(readOutcomes(office)).toEqual(["started", "ok"]);
});

test("a change that cannot be recorded is not made", async () => {
  const office = await open();
  mkdirSync(join(office.folder, "audit.jsonl"));
  const request = { ...SEND, idempotencyKey: "k1" };
  expect(await office.broker.invoke(ALICE, request, YES)).toMatchObject(
    faultCode("capability_backend_unavailable"),
  );
  expect(office.calls).toEqual([]);
  rmSync(join(office.folder, "audit.jsonl"), { recursive: true });
  expect(await office.broker.invoke(ALICE, request, YES)).toMatchObject({
    ok: true,
    value: { isRepeat: false },
  });
});

test("the same key has the same result and is made once, and nobody is asked twice", async () => {
  let questions = 0;
  const confirm = (): "yes" => {
    questions += 1;
    return "yes";
  };
  const home = temporaryFolder();
  const office = await open({ home, perform: () => answerWith({ id: `m${office.calls.length}` }) });
  const request = { ...SEND, idempotencyKey: "k1" };
  const first = await office.broker.invoke(ALICE, request, { confirm });
  expect(first).toMatchObject({ ok: true, value: { output: { id: "m1" }, isRepeat: false } });
  const second = await office.broker.invoke(ALICE, request, { confirm });
  expect(second).toMatchObject({ ok: true, value: { output: { id: "m1" }, isRepeat: true, account: "a1" } });
  const restarted = await open({ home });
  expect(await restarted.broker.invoke(ALICE, request)).toMatchObject({
    ok: true,
    value: { isRepeat: true },
  });
  expect(restarted.calls).toEqual([]);
  expect(questions).toBe(1);
  expect(readOutcomes(office)).toEqual(["started", "ok", "repeat", "repeat"]);
});

test("a key belongs to a user, an operation and an input", async () => {
  const { broker, calls } = await open();
  await broker.invoke(ALICE, { ...SEND, idempotencyKey: "k1" }, YES);
  const other = { ...SEND, input: { to: "eve" }, idempotencyKey: "k1" };
  expect(await broker.invoke(ALICE, other, YES)).toMatchObject(faultCode("capability_invalid_input"));
  expect(await broker.invoke(BOB, other, YES)).toMatchObject({ ok: true, value: { isRepeat: false } });
  expect(await broker.invoke(ALICE, { ...FILE, idempotencyKey: "k1" }, YES)).toMatchObject({ ok: true });
  expect(calls).toHaveLength(3);
});

test("two calls with one key at the same time are made once", async () => {
  const { broker, calls } = await open();
  const request = { ...SEND, idempotencyKey: "k1" };
  const answers = await Promise.all([1, 2, 3].map(() => broker.invoke(ALICE, request, YES)));
  expect(answers.every(({ ok }) => ok)).toBe(true);
  expect(answers.filter((answer) => answer.ok && answer.value.isRepeat)).toHaveLength(2);
  expect(calls).toHaveLength(1);
});

test("after a call of which nobody knows, an idempotent operation is repeated and any other is not", async () => {
  const faults = [
    answerFault("capability_backend_unavailable", "Gone."),
    answerFault("capability_invalid_output", "Garbage."),
  ];
  for (const fault of faults) {
    const answers: Answer<JsonObject>[] = [fault, fault];
    const { broker, calls } = await open({ perform: () => answers.shift() ?? answerWith({ id: "m1" }) });
    const lost = await broker.invoke(ALICE, { ...SEND, idempotencyKey: "k1" }, YES);
    expect(lost).toMatchObject({ ok: false, fault: { code: fault.fault.code } });
    expect(!lost.ok && lost.fault.message).toContain("It is unknown whether the change was made.");
    expect(await broker.invoke(ALICE, { ...SEND, idempotencyKey: "k1" }, YES)).toMatchObject(UNKNOWN);
    await broker.invoke(ALICE, { ...FILE, idempotencyKey: "k1" }, YES);
    const repeated = await broker.invoke(ALICE, { ...FILE, idempotencyKey: "k1" }, YES);
    expect(repeated).toMatchObject({ ok: true, value: { isRepeat: false } });
    expect(calls.map(({ request }) => request.idempotencyKey)).toEqual(["k1", "k1", "k1"]);
  }
});

test("a caller who gives up after the provider was called leaves a call of which nobody knows", async () => {
  const control = new AbortController();
  const { broker } = await open({
    perform: () => {
      control.abort();
      return new Promise(() => undefined);
    },
  });
  const request = { ...SEND, idempotencyKey: "k1" };
  const answer = await broker.invoke(ALICE, request, { ...YES, signal: control.signal });
  expect(answer).toMatchObject(faultCode("capability_cancelled"));
  expect(await broker.invoke(ALICE, request, YES)).toMatchObject(UNKNOWN);
});

test("a caller who gives up before leaves the key free", async () => {
  const office = await open();
  const control = new AbortController();
  const request = { ...SEND, idempotencyKey: "k1" };
  const waiting = () =>
    new Promise<"yes">((resolve) => {
      control.abort();
      resolve("yes");
    });
  const answer = await office.broker.invoke(ALICE, request, { confirm: waiting, signal: control.signal });
  expect(answer).toMatchObject(faultCode("capability_cancelled"));
  expect(office.calls).toEqual([]);
  expect(await office.broker.invoke(ALICE, request, YES)).toMatchObject({
    ok: true,
    value: { isRepeat: false },
  });
});

test("a provider that refuses has not begun: the key is free; any other fault of it is the result", async () => {
  const answers: Answer<JsonObject>[] = [
    answerFault("capability_invalid_input", "No such letter."),
    { ok: false, fault: { code: "half_done", message: "Stopped in the middle." } },
  ];
  const { broker, calls } = await open({ perform: () => answers.shift() ?? answerWith({}) });
  const request = { ...SEND, idempotencyKey: "k1" };
  expect(await broker.invoke(ALICE, request, YES)).toMatchObject(faultCode("capability_invalid_input"));
  expect(await broker.invoke(ALICE, request, YES)).toMatchObject(faultCode("half_done"));
  expect(await broker.invoke(ALICE, request, YES)).toMatchObject(faultCode("half_done"));
  expect(calls).toHaveLength(2);
});

test("a result that may not be passed on was made all the same, and is not made again", async () => {
  const { broker, calls } = await open({ perform: () => answerWith({ access_token: "x" }) });
  const request = { ...SEND, idempotencyKey: "k1" };
  for (let time = 0; time < 2; time++) {
    expect(await broker.invoke(ALICE, request, YES)).toMatchObject(faultCode("capability_invalid_output"));
  }
  expect(calls).toHaveLength(1);
});
