/** Tokens for providers in other processes, and how a bridge reads them. */
import { describe, expect, test } from "vitest";
import { decodePart, signToken, withClaims } from "../../../../test/support/signed-tokens.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createBridgeTokens, verifyBridgeToken } from "../../src/tokens/caller-tokens.ts";

const CALLER = {
  userId: "anna",
  chatId: "12345",
  chatType: "private",
  chatTitle: "Desk",
  provider: "telegram",
  sessionKey: "s-1",
  threadId: "t-1",
  sourceUsername: "anna_b",
  sourceDisplayName: "Anna B.",
  messageId: "77",
  currentUserMessage: "read my mail",
  timezone: "Europe/Berlin",
};
const RUN = { runId: "run-1", skill: "desk", declared: ["desk.mail"] };
const HEADER = { alg: "HS256", typ: "ASH_CONTEXT", ver: 1 };

async function codeOf(token: string | undefined, secret: string, expected = {}): Promise<unknown> {
  const reading = await verifyBridgeToken(token, secret, expected);
  return reading.ok ? reading.value.userId : reading.refusal.code;
}

describe("what a bridge gets", () => {
  verifies(
    [172, "case 111", "case 113"],
    "the exported secret verifies every claim of the caller",
    async () => {
      const tokens = createBridgeTokens("desk");
      const reading = await verifyBridgeToken(await tokens.mint(CALLER), tokens.exportSecret(), {
        audience: "desk",
      });
      expect(reading).toEqual({ ok: true, value: CALLER });
    },
  );

  test("the token has the form that bridges of the other system read", async () => {
    const tokens = createBridgeTokens("desk");
    const token = await tokens.mint(CALLER);
    expect(decodePart(token, 0)).toEqual(HEADER);
    const claims = decodePart(token, 1);
    expect(claims).toMatchObject({
      ver: 1,
      sub: "anna",
      aud: "desk",
      jti: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(Object.keys(claims)).toEqual(Object.keys(claims).toSorted());
    expect(signToken(HEADER, claims, tokens.exportSecret())).toBe(token);
  });

  test("it learns nothing of the run", async () => {
    const claims = decodePart(await createBridgeTokens("desk").mint({ ...CALLER, ...RUN }), 1);
    expect(Object.keys(claims)).not.toEqual(expect.arrayContaining(["run_id"]));
    expect(JSON.stringify(claims)).not.toContain("run-1");
    expect(claims).not.toHaveProperty("capabilities");
  });

  test("each call has a token of its own", async () => {
    const tokens = createBridgeTokens("desk");
    const [first, second] = [await tokens.mint(CALLER), await tokens.mint(CALLER)];
    expect(decodePart(first, 1).jti).not.toBe(decodePart(second, 1).jti);
  });
});

describe("what a bridge refuses", () => {
  verifies(172, "the token of another provider, whose key is not its own", async () => {
    const [desk, bank] = [createBridgeTokens("desk"), createBridgeTokens("bank")];
    expect(await codeOf(await bank.mint(CALLER), desk.exportSecret())).toBe("signature");
    expect(await codeOf(await desk.mint(CALLER), desk.exportSecret(), { audience: "bank" })).toBe("claims");
  });

  verifies("case 114", "a token that has ended, is from the future, or names no user", async () => {
    const secret = createBridgeTokens("desk").exportSecret();
    const now = Math.floor(Date.now() / 1000);
    const claims = { ver: 1, sub: "anna", aud: "desk", jti: "j", iat: now, exp: now + 60 };
    const code = (more: object): Promise<unknown> =>
      codeOf(signToken(HEADER, { ...claims, ...more }, secret), secret);
    expect(await code({})).toBe("anna");
    expect(await code({ exp: now - 20 })).toBe("anna");
    expect(await code({ exp: now - 40 })).toBe("claims");
    expect(await code({ iat: now + 20 })).toBe("anna");
    expect(await code({ iat: now + 60 })).toBe("claims");
    expect(await code({ sub: undefined })).toBe("claims");
    expect(await code({ sub: " " })).toBe("claims");
    expect(await code({ sub: 7 })).toBe("claims");
    expect(await code({ exp: undefined })).toBe("claims");
    expect(await code({ iat: true })).toBe("claims");
    expect(await code({ jti: undefined })).toBe("claims");
  });

  verifies(["case 112", "case 114"], "changed claims, another header, and what is no token", async () => {
    const tokens = createBridgeTokens("desk");
    const secret = tokens.exportSecret();
    const token = await tokens.mint(CALLER);
    const claims = decodePart(token, 1);
    expect(await codeOf(withClaims(token, { sub: "bert" }), secret)).toBe("signature");
    for (const header of [{ alg: "none" }, { alg: "HS384" }, { typ: "JWT" }, { ver: 2 }]) {
      expect(await codeOf(signToken({ ...HEADER, ...header }, claims, secret), secret)).toBe("header");
    }
    expect(await codeOf(signToken(HEADER, "[1]", secret), secret)).toBe("decode");
    expect(await codeOf(undefined, secret)).toBe("missing");
    expect(await codeOf("a.b", secret)).toBe("format");
  });

  test("everything, where it was given no secret", async () => {
    const token = await createBridgeTokens("desk").mint(CALLER);
    expect(await codeOf(token, "")).toBe("signature");
  });

  test("a secret may be written in hex, base64url or plain text", async () => {
    const key = Buffer.from("a key of 32 bytes for this test!");
    const now = Math.floor(Date.now() / 1000);
    const claims = { sub: "anna", jti: "j", iat: now, exp: now + 60 };
    const token = signToken(HEADER, claims, key.toString("base64url"));
    for (const secret of [key.toString("hex"), key.toString("base64url"), key.toString()]) {
      expect(await codeOf(token, secret)).toBe("anna");
    }
  });
});
