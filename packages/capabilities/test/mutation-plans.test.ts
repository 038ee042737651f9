/** Plans of changes: what is confirmed is exactly what is done. */
import { expect, test } from "vitest";
import { createMutationPlans, type PlannedChange } from "../src/confirm-change.ts";

const OPERATION = { name: "send", description: "", requiresAuth: false, mutating: true, idempotent: false };
const CHANGE: PlannedChange = {
  caller: { userId: "alice" },
  capability: "desk.mail",
  operation: OPERATION,
  account: "a1",
  input: { to: "bob", body: "hello" },
};

function planOf(plans: ReturnType<typeof createMutationPlans>, change = CHANGE, planId?: string) {
  const made = plans.make(change, planId);
  if (!made.ok) throw new Error(made.fault.message);
  return made.value;
}

test("a plan has an id and a fingerprint of all that counts", () => {
  const plans = createMutationPlans();
  const plan = planOf(plans);
  expect(plan.planId).toMatch(/^plan_[0-9a-f]{16}$/);
  expect(plan.fingerprint).toMatch(/^sha256:[0-9a-f]{64}$/);
  const reordered = { ...CHANGE, input: { body: "hello", to: "bob" } };
  expect(planOf(plans, reordered).fingerprint).toBe(plan.fingerprint);
  const others: readonly PlannedChange[] = [
    { ...CHANGE, caller: { userId: "bob" } },
    { ...CHANGE, capability: "desk.calendar" },
    { ...CHANGE, operation: { ...OPERATION, name: "file" } },
    { ...CHANGE, account: "a2" },
    { ...CHANGE, input: { to: "bob", body: "hello!" } },
  ];
  for (const other of others) expect(planOf(plans, other).fingerprint).not.toBe(plan.fingerprint);
});

test("a plan that was put off is found by its id, and by asking for the same again", () => {
  const plans = createMutationPlans();
  const plan = planOf(plans);
  plans.keep(plan);
  expect(planOf(plans, CHANGE, plan.planId)).toEqual(plan);
  expect(planOf(plans).planId).toBe(plan.planId);
  plans.settle(plan);
  expect(plans.make(CHANGE, plan.planId).ok).toBe(false);
  expect(planOf(plans).planId).not.toBe(plan.planId);
});

test("with other content, of another user, or unknown, a plan id is a mismatch", () => {
  const plans = createMutationPlans();
  const plan = planOf(plans);
  plans.keep(plan);
  const mismatch = { ok: false, fault: { code: "capability_mutation_plan_mismatch" } };
  expect(plans.make({ ...CHANGE, input: { to: "mallory" } }, plan.planId)).toMatchObject(mismatch);
  expect(plans.make({ ...CHANGE, caller: { userId: "bob" } }, plan.planId)).toMatchObject(mismatch);
  expect(plans.make(CHANGE, "plan_0000000000000000")).toMatchObject(mismatch);
});

test("a plan ends after half an hour", () => {
  let time = 0;
  const plans = createMutationPlans(() => time);
  const plan = planOf(plans);
  plans.keep(plan);
  time = 30 * 60_000 - 1;
  expect(plans.make(CHANGE, plan.planId).ok).toBe(true);
  time += 1;
  expect(plans.make(CHANGE, plan.planId).ok).toBe(false);
});

test("one user keeps at most a hundred plans, and pushes out no one else's", () => {
  const plans = createMutationPlans();
  const ofBob = planOf(plans, { ...CHANGE, caller: { userId: "bob" } });
  plans.keep(ofBob);
  const mine = Array.from({ length: 101 }, (_, number) => {
    const change = { ...CHANGE, input: { number } };
    const plan = planOf(plans, change);
    plans.keep(plan);
    return { change, plan };
  });
  const isKept = mine.map(({ change, plan }) => plans.make(change, plan.planId).ok);
  expect(isKept[0]).toBe(false);
  expect(isKept.slice(1).every(Boolean)).toBe(true);
  expect(plans.make({ ...CHANGE, caller: { userId: "bob" } }, ofBob.planId).ok).toBe(true);
});
