import { expect } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { callbackHint } from "../../src/run/capability-preflight.ts";
import { assembleSystemPrompt } from "../../src/run/system-prompt.ts";

const CAPABILITIES = ["gog.email"];

verifies(["case 86"], "an address a browser ended at, in the user's own message, is pointed out", () => {
  for (const message of [
    "here: http://localhost:8085/?state=x&code=4/0AbCd",
    "http://127.0.0.1/callback?code=abc",
    "`http://[::1]:9000/cb?scope=mail&code=abc`",
    "the code is\n4/0AVMBsJi_abcdefghij\nthanks",
  ]) {
    const hint = callbackHint(CAPABILITIES, message);
    expect(hint, message).toContain("sign-in");
    const prompt = assembleSystemPrompt({
      skill: "mail",
      instructions: "Read mail.",
      capabilities: CAPABILITIES,
      ...(hint !== undefined && { capabilityHint: hint }),
    });
    expect(prompt).toContain("complete the newest one that fits");
  }
});

verifies(["case 86"], "other messages, and skills without capabilities, are left alone", () => {
  for (const message of [
    "open http://localhost:3000/?page=2",
    "https://example.com/?code=abc",
    "divide 4/2",
    "what is my code?",
  ]) {
    expect(callbackHint(CAPABILITIES, message), message).toBeUndefined();
  }
  expect(callbackHint([], "http://localhost/?code=1")).toBeUndefined();
  expect(callbackHint(CAPABILITIES, undefined)).toBeUndefined();
});
