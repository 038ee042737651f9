import { describe, expect, test } from "vitest";
import { recogniseCallback } from "../../src/auth/read-answer.ts";
import type { AuthFlow } from "../../src/capability-broker.ts";

function flow(id: string, query: Readonly<Record<string, string>>): AuthFlow {
  return {
    flowId: id,
    capability: "door.mail",
    authUrl: `https://door.example/authorize?${new URLSearchParams({ response_type: "code", ...query })}`,
    flowType: "authorization_code",
    expiresAt: "2026-03-01T10:00:00.000Z",
  };
}

const FIRST = flow("caf_1", { state: "s1", redirect_uri: "http://localhost:8085/" });
const SECOND = flow("caf_2", { state: "s2", redirect_uri: "https://app.example/back" });
const STATELESS = flow("caf_3", {});
const DEVICE: AuthFlow = { ...FIRST, flowId: "caf_4", flowType: "device_code" };

describe("an answer in a message", () => {
  test("is found among other words, and so is the sign-in that it answers", () => {
    const message = "done! it says <http://localhost:8085/?state=s1&code=4/0AbCd>. now read my mail";
    expect(recogniseCallback(message, [SECOND, FIRST, DEVICE])).toEqual({
      kind: "address",
      text: "http://localhost:8085/?state=s1&code=4/0AbCd",
      flow: FIRST,
    });
  });

  test("may be an address of the web only where a pending sign-in leads there", () => {
    const message = "https://app.example/back?code=abc&state=s2";
    expect(recogniseCallback(message, [FIRST, SECOND])?.flow).toBe(SECOND);
    expect(recogniseCallback("https://app.example/back?code=abc", [FIRST, SECOND])?.flow).toBe(SECOND);
    expect(recogniseCallback("https://elsewhere.example/?code=abc&state=s2", [SECOND])?.flow).toBe(SECOND);
    expect(recogniseCallback(message, [FIRST])).toBeUndefined();
    expect(recogniseCallback(message)).toBeUndefined();
  });

  test("that says no is one as well", () => {
    expect(recogniseCallback("http://localhost:8085/?error=access_denied&state=s1", [FIRST])?.flow).toBe(
      FIRST,
    );
  });

  test("without a state belongs to the only one that is pending, or to none that can be told", () => {
    expect(recogniseCallback("http://127.0.0.1:9/cb?code=abc", [STATELESS])?.flow).toBe(STATELESS);
    expect(recogniseCallback("http://127.0.0.1:9/cb?code=abc", [STATELESS, FIRST])).toEqual({
      kind: "address",
      text: "http://127.0.0.1:9/cb?code=abc",
    });
  });

  test("with a state that no sign-in shows belongs to the one that shows none", () => {
    expect(recogniseCallback("http://localhost/?code=a&state=unseen", [FIRST, STATELESS])?.flow).toBe(
      STATELESS,
    );
    expect(recogniseCallback("http://localhost/?code=a&state=unseen", [FIRST])?.flow).toBeUndefined();
  });

  test("may be a code alone, where one is waited for", () => {
    expect(recogniseCallback("4/0AVMBsJi_abcdefghij")).toEqual({
      kind: "code",
      text: "4/0AVMBsJi_abcdefghij",
    });
    expect(recogniseCallback(" `a1b2c3d4e5f6g7h8` ", [FIRST])).toEqual({
      kind: "code",
      text: "a1b2c3d4e5f6g7h8",
      flow: FIRST,
    });
    expect(recogniseCallback("code=abc&state=s1", [FIRST])?.text).toBe("code=abc&state=s1");
  });
});

test("other messages are no answers", () => {
  for (const message of [
    "",
    "read my mail",
    "open http://localhost:3000/?page=2",
    "https://door.example/authorize?response_type=code&state=s1&redirect_uri=http://localhost/",
    "incomprehensibilities",
    "divide 4/2",
    "x".repeat(70_000),
  ]) {
    expect(recogniseCallback(message, [FIRST]), message.slice(0, 40)).toBeUndefined();
  }
  expect(recogniseCallback("a1b2c3d4e5f6g7h8")).toBeUndefined();
  expect(recogniseCallback("a1b2c3d4e5f6g7h8", [DEVICE])).toBeUndefined();
});
