/** Tokens of the commands of a run: what they carry, and everything that is refused. */
import { describe, expect, test } from "vitest";
import { decodePart, encodePart, signToken, withClaims } from "../../../../test/support/signed-tokens.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { CapabilityCaller } from "../../src/capability.ts";
import { type CallerTokens, createBridgeTokens, createCallerTokens } from "../../src/tokens/caller-tokens.ts";

const MINUTE = 60_000;

const CALLER: CapabilityCaller = { userId: "anna", runId: "run-1", declared: ["desk.mail"] };

const EVERYTHING: Required<CapabilityCaller> = {
  userId: "anna",
  chatId: "12345",
  chatType: "private",
  chatTitle: "Größen & Maße",
  provider: "telegram",
  sessionKey: "s-1",
  threadId: "t-1",
  sourceUsername: "anna_b",
  sourceDisplayName: "Anna B.",
  messageId: "77",
  currentUserMessage: "  here it is: 4/abc\n",
  timezone: "Europe/Berlin",
  runId: "run-1",
  skill: "desk",
  declared: ["desk.calendar", "desk.mail"],
};

let nonces = 0;

/** The code of the check that a token failed, or the caller. */
async function read(tokens: CallerTokens, token: string | undefined, runId = "run-1"): Promise<unknown> {
  nonces += 1;
  const reading = await tokens.verify(token, `nonce-${nonces}`, { runId });
  return reading.ok ? reading.value : reading.refusal.code;
}

async function mint(tokens: CallerTokens, more: Partial<CapabilityCaller> = {}): Promise<string> {
  return (await tokens.mint({ ...CALLER, ...more }, MINUTE)).token;
}

describe("what a token carries", () => {
  verifies([172, "case 111"], "everything that is known of a caller comes back word for word", async () => {
    const tokens = createCallerTokens();
    expect(await read(tokens, await mint(tokens, EVERYTHING))).toEqual(EVERYTHING);
  });

  verifies("case 111", "blank texts are left out", async () => {
    const tokens = createCallerTokens();
    const token = await mint(tokens, { chatTitle: "  ", threadId: "" });
    expect(await read(tokens, token)).toEqual(CALLER);
    expect(Object.keys(decodePart(token, 1))).not.toContain("chat_title");
  });

  test("the header names the key, and the claims say for what it is", async () => {
    const token = await mint(createCallerTokens());
    expect(decodePart(token, 0)).toEqual({
      alg: "HS256",
      typ: "metier-caller+jwt",
      kid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const { iat, exp, ...claims } = decodePart(token, 1);
    expect(Number(exp) - Number(iat)).toBeGreaterThanOrEqual(60);
    expect(claims).toEqual({
      iss: "metier",
      aud: "metier-capabilities",
      sub: "anna",
      jti: expect.any(String),
      run_id: "run-1",
      capabilities: ["desk.mail"],
    });
  });

  test("in a run, nothing said about capabilities means none", async () => {
    const tokens = createCallerTokens();
    const { token } = await tokens.mint({ userId: "anna", runId: "run-1" }, MINUTE);
    expect(await read(tokens, token)).toEqual({ userId: "anna", runId: "run-1", declared: [] });
  });

  test("a message too long to be the answer to a sign-in stays out of it", async () => {
    const tokens = createCallerTokens();
    const token = await mint(tokens, { currentUserMessage: "x".repeat(20_000) });
    expect(await read(tokens, token)).toEqual(CALLER);
  });

  test("nobody gets a token without a user, or one that fits into no variable", async () => {
    const tokens = createCallerTokens();
    await expect(tokens.mint({ userId: " " }, MINUTE)).rejects.toThrow(/user id/);
    const long = { ...CALLER, chatTitle: "x".repeat(100_000) };
    await expect(tokens.mint(long, MINUTE)).rejects.toThrow(/the limit for a variable is 98304/);
  });
});

describe("what is refused", () => {
  verifies("case 114", "no token, and what is none", async () => {
    const tokens = createCallerTokens();
    const [header = "", payload = "", signature = ""] = (await mint(tokens)).split(".");
    expect(await read(tokens, undefined)).toBe("missing");
    expect(await read(tokens, "")).toBe("missing");
    expect(await read(tokens, "  ")).toBe("missing");
    expect(await read(tokens, `${header}.${payload}`)).toBe("format");
    expect(await read(tokens, `${header}.${payload}.${signature}.x`)).toBe("format");
    expect(await read(tokens, `.${payload}.${signature}`)).toBe("format");
    expect(await read(tokens, "x".repeat(200_000))).toBe("format");
    expect(await read(tokens, `${header}.${payload}.§`)).toBe("decode");
    expect(await read(tokens, `${encodePart("no json")}.${payload}.${signature}`)).toBe("decode");
    expect(await read(tokens, `${encodePart("[]")}.${payload}.${signature}`)).toBe("decode");
  });

  verifies([172, "case 112"], "other claims under the same signature", async () => {
    const tokens = createCallerTokens();
    const token = await mint(tokens);
    expect(await read(tokens, withClaims(token, { sub: "bert" }))).toBe("signature");
    expect(await read(tokens, withClaims(token, { capabilities: ["bank.transfer"] }))).toBe("signature");
    expect(await read(tokens, withClaims(token, { exp: 9_999_999_999 }))).toBe("signature");
  });

  verifies("case 112", "a signature that was changed, cut, or written in another way", async () => {
    const tokens = createCallerTokens();
    const token = await mint(tokens);
    const body = token.slice(0, token.lastIndexOf(".") + 1);
    const signature = token.slice(body.length);
    const others = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".split("");
    const variants = others.map((last) => signature.slice(0, -1) + last).filter((each) => each !== signature);
    for (const changed of [...variants, "", signature.slice(0, -4), `${signature}AAAA`]) {
      expect(await read(tokens, body + changed)).toBe("signature");
    }
    expect(await read(tokens, token)).toEqual(CALLER);
  });

  verifies("case 114", "another algorithm, another type, no key", async () => {
    const tokens = createCallerTokens();
    const token = await mint(tokens);
    const header = decodePart(token, 0);
    const [, payload = "", signature = ""] = token.split(".");
    const withHeader = (more: object): string =>
      `${encodePart({ ...header, ...more })}.${payload}.${signature}`;
    expect(await read(tokens, withHeader({ alg: "none" }))).toBe("header");
    expect(await read(tokens, `${encodePart({ ...header, alg: "none" })}.${payload}.`)).toBe("header");
    expect(await read(tokens, withHeader({ alg: "HS512" }))).toBe("header");
    expect(await read(tokens, withHeader({ alg: "RS256" }))).toBe("header");
    expect(await read(tokens, withHeader({ typ: "JWT" }))).toBe("header");
    expect(await read(tokens, withHeader({ kid: undefined }))).toBe("header");
    expect(await read(tokens, withHeader({ kid: "__proto__" }))).toBe("signature");
    expect(await read(tokens, withHeader({ crit: ["x"], x: 1 }))).toBe("header");
    expect(await read(tokens, withHeader({ b64: false }))).not.toEqual(CALLER);
  });

  test("a token of another process, and one that was forged with a guessed key", async () => {
    const tokens = createCallerTokens();
    const own = await mint(tokens);
    expect(await read(tokens, await mint(createCallerTokens()))).toBe("signature");
    for (const secret of ["", "AAAA", Buffer.alloc(32).toString("base64url")]) {
      expect(await read(tokens, signToken(decodePart(own, 0), decodePart(own, 1), secret))).toBe("signature");
    }
  });

  verifies(172, "a token for a provider is none for the broker", async () => {
    const token = await createBridgeTokens("desk").mint(CALLER);
    expect(await read(createCallerTokens(), token)).toBe("header");
  });

  verifies(172, "the token of another run, or of none", async () => {
    const tokens = createCallerTokens();
    expect(await read(tokens, await mint(tokens, { runId: "run-2" }))).toBe("claims");
    expect(await read(tokens, (await tokens.mint({ userId: "anna" }, MINUTE)).token)).toBe("claims");
    const reading = await tokens.verify(await mint(tokens), "once");
    expect(reading).toMatchObject({ ok: false, refusal: { code: "claims" } });
  });

  verifies([172, "case 114"], "a token that has ended, beyond thirty seconds of leeway", async () => {
    let now = 1_800_000_000_000;
    const tokens = createCallerTokens({ now: () => now });
    const token = await mint(tokens);
    now += MINUTE + 29_000;
    expect(await read(tokens, token)).toEqual(CALLER);
    now += 1000;
    expect(await read(tokens, token)).toBe("claims");
  });

  verifies("case 114", "a token from the future, beyond thirty seconds of leeway", async () => {
    let now = 1_800_000_000_000;
    const tokens = createCallerTokens({ now: () => now });
    const token = await mint(tokens);
    now -= 30_000;
    expect(await read(tokens, token)).toEqual(CALLER);
    now -= 1000;
    expect(await read(tokens, token)).toBe("claims");
  });

  verifies(172, "a token whose command has ended", async () => {
    const tokens = createCallerTokens();
    const { token, revoke } = await tokens.mint(CALLER, MINUTE);
    expect(await read(tokens, token)).toEqual(CALLER);
    revoke();
    expect(await read(tokens, token)).toBe("claims");
  });

  verifies(172, "a token that was good a moment ago, once something has changed", async () => {
    let time = Date.now();
    const tokens = createCallerTokens({ now: () => time });
    const good = await tokens.mint(CALLER, MINUTE);
    expect(await read(tokens, good.token)).toEqual(CALLER);
    expect(await read(tokens, good.token)).toEqual(CALLER);
    expect(await read(tokens, good.token, "run-2")).toBe("claims");
    expect(await read(tokens, `${good.token}=`)).toBe("decode");
    time -= 2 * MINUTE;
    expect(await read(tokens, good.token)).toBe("claims");
    time += 2 * MINUTE;
    expect(await read(tokens, good.token)).toEqual(CALLER);
    time += 2 * MINUTE;
    expect(await read(tokens, good.token)).toBe("claims");
    const revoked = await tokens.mint(CALLER, MINUTE);
    expect(await read(tokens, revoked.token)).toEqual(CALLER);
    revoked.revoke();
    expect(await read(tokens, revoked.token)).toBe("claims");
  });

  test("a fault says which check failed and nothing of the token", async () => {
    const tokens = createCallerTokens();
    const fault = await tokens.verify(withClaims(await mint(tokens), { sub: "bert" }), "n", {
      runId: "run-1",
    });
    expect(fault).toEqual({
      ok: false,
      refusal: { code: "signature", message: "The token's signature is not valid." },
    });
  });
});

describe("each request is accepted once", () => {
  const expected = { runId: "run-1" };

  verifies(172, "the same token and nonce a second time", async () => {
    const tokens = createCallerTokens();
    const [token, other] = [await mint(tokens), await mint(tokens)];
    const codes = await Promise.all(
      ["a", "a", "b"].map(async (nonce) => tokens.verify(token, nonce, expected)),
    );
    expect(codes.map(({ ok }) => ok)).toEqual([true, false, true]);
    expect(await tokens.verify(token, "b", expected)).toMatchObject({ refusal: { code: "replayed" } });
    expect((await tokens.verify(other, "b", expected)).ok).toBe(true);
  });

  test("a request without a nonce, or with an endless one", async () => {
    const tokens = createCallerTokens();
    const token = await mint(tokens);
    expect(await tokens.verify(token, undefined, expected)).toMatchObject({ refusal: { code: "missing" } });
    expect(await tokens.verify(token, " ", expected)).toMatchObject({ refusal: { code: "missing" } });
    expect(await tokens.verify(token, "n".repeat(129), expected)).toMatchObject({
      refusal: { code: "format" },
    });
  });

  test("what a token is remembered by is bounded", async () => {
    const tokens = createCallerTokens();
    const token = await mint(tokens);
    for (let count = 0; count < 10_000; count += 1) await tokens.verify(token, `n${count}`, expected);
    expect(await tokens.verify(token, "one more", expected)).toMatchObject({ refusal: { code: "replayed" } });
  });
});

describe("keys change", () => {
  verifies(172, "tokens of the key before are good until they end, and new ones have a new key", async () => {
    let now = 1_800_000_000_000;
    const tokens = createCallerTokens({ now: () => now });
    const { token: old } = await tokens.mint(CALLER, 10 * MINUTE);
    tokens.rotate();
    const young = await mint(tokens);
    expect(decodePart(young, 0).kid).not.toBe(decodePart(old, 0).kid);
    now += 9 * MINUTE;
    expect(await read(tokens, old)).toEqual(CALLER);
    now += 2 * MINUTE;
    await mint(tokens);
    expect(await read(tokens, old)).toBe("signature");
  });

  test("they change by themselves after an hour", async () => {
    let now = 1_800_000_000_000;
    const tokens = createCallerTokens({ now: () => now });
    const first = decodePart(await mint(tokens), 0).kid;
    expect(decodePart(await mint(tokens), 0).kid).toBe(first);
    now += 60 * MINUTE;
    expect(decodePart(await mint(tokens), 0).kid).not.toBe(first);
  });
});
