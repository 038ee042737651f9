/** Whatever a provider does, its caller gets an answer. */
import { expect, test } from "vitest";
import { callProvider } from "../src/call-provider.ts";
import { type Answer, answerWith } from "../src/capability.ts";

const CALL = { namespace: "desk", timeoutMs: 5_000 };

test("an answer is passed on, and so is a fault with the provider's own code", async () => {
  expect(await callProvider(CALL, async () => answerWith(7))).toEqual(answerWith(7));
  const fault = { code: "quota_exceeded", message: "Too much.", hint: "Wait.", retryAfterSeconds: 5 };
  expect(await callProvider(CALL, async () => ({ ok: false, fault }))).toEqual({ ok: false, fault });
});

test("an exception is a provider that is not available, whether it comes at once or later", async () => {
  const expected = { ok: false, fault: { code: "capability_backend_unavailable" } };
  const later = await callProvider(CALL, () => Promise.reject(new Error("disk on fire")));
  expect(later).toMatchObject(expected);
  expect(!later.ok && later.fault.message).toBe("The provider `desk` failed: disk on fire");
  const atOnce = await callProvider(CALL, () => {
    throw new TypeError("not a function");
  });
  expect(atOnce).toMatchObject(expected);
  expect(await callProvider(CALL, () => Promise.reject("only a text"))).toMatchObject(expected);
});

test("what a provider says about a fault is cut, and left out where it holds a credential", async () => {
  const secret = `Authorization: Bearer ${"0a1b2c3d".repeat(4)}`;
  const thrown = await callProvider(CALL, () => Promise.reject(new Error(`request failed: ${secret}`)));
  expect(JSON.stringify(thrown)).not.toContain("0a1b2c3d");
  const told = await callProvider(CALL, async () => ({
    ok: false,
    fault: { code: "http", message: secret, hint: secret },
  }));
  expect(JSON.stringify(told)).not.toContain("0a1b2c3d");
  expect(told).toMatchObject({ fault: { code: "http" } });
  const long = await callProvider(CALL, () => Promise.reject(new Error("x".repeat(9_000))));
  expect(!long.ok && long.fault.message.length).toBeLessThan(1_100);
});

test("an answer that is none is invalid output", async () => {
  const strange: unknown[] = [undefined, null, 7, {}, { ok: true }, { ok: false }, { ok: false, fault: {} }];
  strange.push(
    { ok: false, fault: { code: "two words", message: "x" } },
    { ok: false, fault: { code: "x", message: 1 } },
  );
  for (const answer of strange) {
    expect(await callProvider(CALL, async () => answer as Answer<number>)).toMatchObject({
      ok: false,
      fault: { code: "capability_invalid_output" },
    });
  }
});

test("a provider that hangs is given up, and told so", async () => {
  let given: AbortSignal | undefined;
  const answer = await callProvider({ ...CALL, timeoutMs: 10 }, (signal) => {
    given = signal;
    return new Promise(() => undefined);
  });
  expect(answer).toMatchObject({ ok: false, fault: { code: "capability_backend_unavailable" } });
  expect(given?.aborted).toBe(true);
});

test("a caller who gives up is answered at once, and before the call nothing is called", async () => {
  const control = new AbortController();
  const answer = callProvider({ ...CALL, signal: control.signal }, () => new Promise(() => undefined));
  control.abort();
  expect(await answer).toMatchObject({ ok: false, fault: { code: "capability_cancelled" } });
  let isCalled = false;
  const late = await callProvider({ ...CALL, signal: control.signal }, async () => {
    isCalled = true;
    return answerWith(1);
  });
  expect(late).toMatchObject({ ok: false, fault: { code: "capability_cancelled" } });
  expect(isCalled).toBe(false);
});
