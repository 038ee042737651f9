/** The settings of OIDC: whole, or refused with what is wrong and what to do. */
import { expect, test } from "vitest";
import { readOidcSettings } from "../src/keys/oidc-settings.ts";

const WHOLE = { METIER_OIDC_ISSUER: "https://login.example.com/main", METIER_OIDC_AUDIENCE: "metier" };

test("issuer and audience are enough; claims have names of their own unless others are set", () => {
  expect(readOidcSettings({})).toMatchObject({ ok: true, value: undefined });
  expect(readOidcSettings({ METIER_OIDC_ISSUER: "", METIER_OIDC_AUDIENCE: " " })).toMatchObject({
    value: undefined,
  });
  expect(readOidcSettings(WHOLE)).toMatchObject({
    value: {
      issuer: "https://login.example.com/main",
      audience: "metier",
      tenantClaim: "tenant",
      roleClaim: "role",
    },
  });
  const more = {
    METIER_OIDC_TENANT_CLAIM: "https://example.com/org",
    METIER_OIDC_ROLE_CLAIM: "roles",
    METIER_OIDC_CLIENT_ID: "page",
    METIER_OIDC_CLIENT_SECRET: "secret",
  };
  expect(readOidcSettings({ ...WHOLE, ...more })).toMatchObject({
    value: {
      tenantClaim: "https://example.com/org",
      roleClaim: "roles",
      client: { id: "page", secret: "secret" },
    },
  });
  expect(readOidcSettings({ ...WHOLE, METIER_OIDC_ISSUER: "http://127.0.0.1:4000" })).toMatchObject({
    ok: true,
  });
});

test("half of them, an address without https, and texts that cannot be right are refused", () => {
  const wrong: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [{ METIER_OIDC_ISSUER: "https://x.example" }, "METIER_OIDC_AUDIENCE"],
    [{ METIER_OIDC_CLIENT_ID: "x" }, "METIER_OIDC_ISSUER"],
    [{ METIER_OIDC_ROLE_CLAIM: "x" }, "METIER_OIDC_ISSUER"],
    [{ ...WHOLE, METIER_OIDC_CLIENT_ID: "x" }, "METIER_OIDC_CLIENT_SECRET"],
    [{ ...WHOLE, METIER_OIDC_CLIENT_SECRET: "x" }, "METIER_OIDC_CLIENT_ID"],
    [{ ...WHOLE, METIER_OIDC_ISSUER: "http://login.example.com" }, "https://"],
    [{ ...WHOLE, METIER_OIDC_ISSUER: "login.example.com" }, "URL"],
    [{ ...WHOLE, METIER_OIDC_ISSUER: "https://a:b@login.example.com" }, "must not have a user"],
    [{ ...WHOLE, METIER_OIDC_ISSUER: "https://login.example.com/?x=1" }, "query"],
    [{ ...WHOLE, METIER_OIDC_AUDIENCE: "a\u0000b" }, "METIER_OIDC_AUDIENCE"],
    [{ ...WHOLE, METIER_OIDC_AUDIENCE: "x".repeat(600) }, "512"],
  ];
  for (const [environment, told] of wrong) {
    const read = readOidcSettings(environment);
    expect([environment, read.ok]).toEqual([environment, false]);
    if (read.ok) continue;
    expect(read.refusal.message).toContain(told);
    expect(read.refusal.hint).toBeTruthy();
    expect(JSON.stringify(read.refusal)).not.toContain('"secret"');
  }
});
