/** What looks like a credential and what does not, by name and by form, at any depth. */
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { checkOutput, findCredential } from "../src/plain-json.ts";

const SPELLINGS = [
  "access_token",
  "access-token",
  "accessToken",
  "AccessToken",
  "ACCESS_TOKEN",
  "ACCESSTOKEN",
  "access token",
  "Access.Token",
  "ａccess_token",
  "access\u200B_token",
  "áccess_token",
  "access_token_2",
];

verifies("case 123", "a credential is refused by its name in any spelling, whatever its value", () => {
  for (const key of SPELLINGS)
    expect(findCredential({ [key]: "x" }), key).toMatchObject({ what: expect.any(String) });
  const names = [
    "refresh_token",
    "idToken",
    "client-secret",
    "Cookie",
    "cookies",
    "AUTHORIZATION",
    "Set-Cookie",
  ];
  for (const key of names) {
    for (const value of ["x", null, 7, true, {}, []])
      expect(findCredential({ [key]: value }), key).toBeDefined();
  }
});

verifies("case 123", "it is found at any depth, in lists, and in JSON inside a text", () => {
  const deep = { items: [{ meta: { headers: [{ refreshToken: "x" }] } }] };
  expect(findCredential(deep)?.path).toBe("items[0].meta.headers[0].refreshToken");
  expect(findCredential({ raw: JSON.stringify({ body: JSON.stringify(deep) }) })?.path).toContain(
    "refreshToken",
  );
  expect(findCredential({ headers: [{ name: "Set-Cookie", value: "a=b" }] })?.path).toBe("headers[0].value");
  const answer = checkOutput("The output of `gog.email`", deep);
  expect(answer).toMatchObject({ ok: false, fault: { code: "capability_invalid_output" } });
  expect(!answer.ok && answer.fault.message).toContain("`items[0].meta.headers[0].refreshToken`");
});

verifies(
  "case 123",
  "no wrapping hides it: quoted JSON, JSON in prose, a long name, keys of another case",
  () => {
    const inner = JSON.stringify({ access_token: "a1b2c3d4e5f6g7" });
    for (const value of [
      JSON.stringify(inner),
      `{"n": 1}\n${inner}`,
      `It answered ${inner}.`,
      `It answered ${JSON.stringify(inner)}.`,
    ])
      expect(findCredential({ text: value }), value).toBeDefined();
    expect(findCredential({ text: '"access_token": "your-access-token"' })).toBeUndefined();
    expect(findCredential({ [`${"x".repeat(300)}_access_token`]: "x" })).toBeDefined();
    expect(findCredential({ Name: "Cookie", name: "a", Value: "b" })?.path).toBe("value");
  },
);

test("other names of credentials are refused when they hold a text", () => {
  const names = [
    ...[
      "google_access_token",
      "googleaccesstoken",
      "x-api-key",
      "apiKey",
      "API_KEY",
      "api_keys",
      "secret_key",
    ],
    ...[
      "private_key",
      "privateKey",
      "password",
      "userPassword",
      "db_password",
      "passphrase",
      "passwd",
      "pwd",
    ],
    ...[
      "token",
      "jwt",
      "bearer",
      "bearer_token",
      "authToken",
      "session_token",
      "X-Amz-Security-Token",
      "csrf-token",
    ],
    ...[
      "app_secret",
      "webhookSecret",
      "secret",
      "session_cookie",
      "proxy-authorization",
      "credentials",
      "code_verifier",
    ],
    ...["secret_access_key", "oauthToken", "bot_token"],
  ];
  for (const key of names) expect(findCredential({ [key]: "value" }), key).toBeDefined();
  for (const key of ["apiKey", "password", "secret"]) {
    for (const value of [true, null, 3, "", {}])
      expect(findCredential({ [key]: value }), key).toBeUndefined();
  }
  expect(findCredential({ has_password: true, requires_authorization: true })).toBeUndefined();
});

test("names that only sound like one pass", () => {
  const harmless = {
    token_count: 7,
    tokens: ["a", "b"],
    total_tokens: 512,
    max_tokens: 9,
    cookie_policy: "strict",
    cookies_accepted: "all",
    next_page_token: "CAUQAA",
    nextPageToken: "CAUQAA",
    sync_token: "CPDAlvWDx70CEPDAlvWDx70CGAU",
    continuation_token: "abc",
    paid_token: "coin",
    access_token_url: "https://example.org/token",
    authorization_endpoint: "https://example.org/authorize",
    authorization_status: "granted",
    password_changed_at: "2026-01-01",
    secret_santa: "Bob",
    secretary: "Carol",
    key: "C major",
    api_key_id: "7",
    public_key: "ssh-ed25519 AAAA",
    author: "Ann",
    tokenizer: "cl100k",
    credential_ref: "vlt_1",
    passwordless: "yes",
    compass: "north",
  };
  for (const [key, value] of Object.entries(harmless))
    expect(findCredential({ [key]: value }), key).toBeUndefined();
});

const JWT = [{ alg: "HS256", typ: "JWT" }, { sub: "alice" }]
  .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
  .join(".");

const CREDENTIALS: readonly (readonly [string, string])[] = [
  ["a bearer header", "Bearer abc123"],
  ["a bearer header in a text", "curl -H 'X: bearer 0123456789abcdefXYZ'"],
  ["an authorization header", "GET /\r\nAuthorization: Token secretvalue\r\n"],
  ["basic credentials", `Basic ${Buffer.from("alice:wonderland").toString("base64")}`],
  ["a JSON Web Token", `${JWT}.c2lnbmF0dXJl`],
  ["an unsigned one", `see ${JWT}.`],
  ["a private key", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\n-----END PRIVATE KEY-----"],
  ["a private key with escaped lines", "-----BEGIN RSA PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG\\n"],
  ["an OpenSSH key", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE\n"],
  ["a GitHub token", `ghp_${"a1B2".repeat(9)}`],
  ["a Google token", "ya29.a0AfH6SMBx1234567890abcdef"],
  ["a Slack token", "xoxb-1234567890-abcdefghij"],
  ["an AWS key", "AKIAIOSFODNN7EXAMPLE"],
  ["a key of a model service", "sk-proj-abcdefghijklmnop0123"],
  ["a Stripe key", `sk_live_${"4eC39HqLyjWDarjtT1zdp7dc"}`],
  ["a token in an address", "https://example.org/cb?access_token=0123456789abcdef&x=1"],
  ["a password in an address", "postgres://app:hunter2hunter2@db.example.org/app"],
  ["a cookie header", "HTTP/1.1 200 OK\r\nSet-Cookie: session=0123456789; Path=/"],
];

test.each(CREDENTIALS)("a value that is %s is refused under any name", (_, value) => {
  expect(findCredential({ note: value })?.path).toBe("note");
  expect(
    findCredential({ notes: [{ text: `before ${value}` }] }) ?? findCredential({ a: [value] }),
  ).toBeDefined();
});

test("prose about credentials passes", () => {
  const prose = [
    "Please send the authorization for the payment, and your password reminder.",
    "Authorization: required. The cookie policy has changed.",
    "bearer authentication, and bearers of internationalization",
    "Bearer of bad news",
    "basic understanding, basic arithmetic",
    "The file begins with -----BEGIN PRIVATE KEY----- as usual.",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A",
    "eyJ is how base64 of JSON begins; eyJhbGciOi.x.y is cut off",
    "sk-learn is a library; scikit-learn-contrib-and-friends too",
    "https://example.org/list?page_token=0123456789abcdef",
    "0123456789abcdef0123456789abcdef01234567",
    "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "{ not JSON",
  ];
  for (const text of prose) expect(findCredential({ text }), text).toBeUndefined();
});

test("a key that is a credential itself is refused, and not shown", () => {
  const found = findCredential({ users: { [`ghp_${"a1B2".repeat(9)}`]: 1 } });
  expect(found).toEqual({ path: "users", what: "a GitHub token" });
});

test("an answer is copied as plain JSON and bounded in size and depth", () => {
  const given = { when: new Date(0), skip: undefined, list: [1] };
  expect(checkOutput("It", given)).toEqual({
    ok: true,
    value: { when: "1970-01-01T00:00:00.000Z", list: [1] },
  });
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  let deep: unknown = "x";
  for (let level = 0; level < 200; level++) deep = [deep];
  for (const value of [
    "text",
    null,
    undefined,
    [],
    7,
    circle,
    { n: 1n },
    { deep },
    { big: "x".repeat(9_000_000) },
  ]) {
    expect(checkOutput("It", value)).toMatchObject({
      ok: false,
      fault: { code: "capability_invalid_output" },
    });
  }
  const many = Array.from({ length: 200_001 }, () => 0);
  expect(findCredential({ many })?.what).toContain("200000 checked values");
});

test("a text that is made to keep a search busy is answered all the same", () => {
  const pieces = [
    "a",
    "sk-",
    "eyJ-",
    "bearer ",
    "basic a",
    "a://b:",
    "-----BEGIN AA ",
    "\n",
    " ",
    "12345678:AA",
    "SG.",
  ];
  for (const piece of pieces) {
    const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
    expect(findCredential({ text }), piece).toBeUndefined();
  }
});
