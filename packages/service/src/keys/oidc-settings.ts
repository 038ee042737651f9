/**
 * The OIDC settings, from the environment: whose tokens are accepted, for which audience, and which claims name the
 * tenant and role. Incomplete settings refuse the start, with what is missing.
 */
import { isLoopbackHost } from "@metier/base/net";
import type { Environment } from "@metier/base/programs";
import { done, type Result, refused } from "@metier/base/result";
import { showNames, showValue } from "@metier/base/text";

export interface OidcSettings {
  /** Where its document is, and the `iss` of its tokens. */
  readonly issuer: string;
  /** What the `aud` of its tokens must contain. */
  readonly audience: string;
  readonly tenantClaim: string;
  readonly roleClaim: string;
  /** For signing people in on the page; absent: it only takes keys. */
  readonly client?: OidcClient | undefined;
  /** How long the issuer isn't asked after it failed to answer, and after its keys were read. Default: 10 s. */
  readonly restMs?: number | undefined;
}

export interface OidcClient {
  readonly id: string;
  readonly secret: string;
}

const ISSUER = "METIER_OIDC_ISSUER";
const AUDIENCE = "METIER_OIDC_AUDIENCE";
const TENANT_CLAIM = "METIER_OIDC_TENANT_CLAIM";
const ROLE_CLAIM = "METIER_OIDC_ROLE_CLAIM";
const CLIENT_ID = "METIER_OIDC_CLIENT_ID";
const CLIENT_SECRET = "METIER_OIDC_CLIENT_SECRET";
const MOST = 512;

/** `undefined`: none is set, and there are only keys. */
export function readOidcSettings(environment: Environment): Result<OidcSettings | undefined> {
  const names = [ISSUER, AUDIENCE, TENANT_CLAIM, ROLE_CLAIM, CLIENT_ID, CLIENT_SECRET];
  const given = names.filter((name) => read(environment, name) !== undefined);
  const [issuer, audience] = [read(environment, ISSUER), read(environment, AUDIENCE)];
  if (given.length === 0) return done(undefined);
  if (issuer === undefined || audience === undefined) {
    const missing = [ISSUER, AUDIENCE].filter((name) => !given.includes(name));
    return refuseSettings(
      `OIDC is only partly configured: ${showNames(given)} is set, ${showNames(missing)} is missing.`,
      `Set ${showNames(missing)} too, or unset ${showNames(given)}.`,
    );
  }
  const tooLong = given.find(
    (name) => !/^[\x20-\x7e]+$/.test(environment[name] ?? "") || isTooLong(environment, name),
  );
  if (tooLong !== undefined) {
    return refuseSettings(
      `${tooLong} is longer than ${MOST} characters, or has a character that is not visible ASCII.`,
      "Copy it again from your identity provider's settings.",
    );
  }
  const address = checkIssuerAddress(issuer);
  if (address !== undefined)
    return refuseSettings(`${ISSUER} is ${showValue(issuer)}; ${address}`, ISSUER_HINT);
  const client = readClient(environment);
  if (!client.ok) return client;
  return done({
    issuer,
    audience,
    tenantClaim: read(environment, TENANT_CLAIM) ?? "tenant",
    roleClaim: read(environment, ROLE_CLAIM) ?? "role",
    client: client.value,
  });
}

const ISSUER_HINT =
  "Use the issuer address from your identity provider, such as `https://login.example.com/realms/main`.";

/** What is wrong with an address for keys and tokens; `undefined`: nothing. */
export function checkIssuerAddress(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null) return "it must be a URL.";
  const isOpen = url.protocol === "http:" && isLoopbackHost(url.hostname);
  if (url.protocol !== "https:" && !isOpen) return "it must start with `https://`, except on this machine.";
  if (url.username !== "" || url.password !== "" || url.hash !== "" || url.search !== "")
    return "it must not have a user, query or fragment.";
  return undefined;
}

function readClient(environment: Environment): Result<OidcClient | undefined> {
  const [id, secret] = [read(environment, CLIENT_ID), read(environment, CLIENT_SECRET)];
  if (id === undefined && secret === undefined) return done(undefined);
  if (id !== undefined && secret !== undefined) return done({ id, secret });
  const [there, missing] = id === undefined ? [CLIENT_SECRET, CLIENT_ID] : [CLIENT_ID, CLIENT_SECRET];
  return refuseSettings(
    `${there} is set, but ${missing} is missing.`,
    `Set both to let people sign in on the page, or unset ${there}: tokens work without them.`,
  );
}

/** Empty means not set: container files often list all variables. */
function read(environment: Environment, name: string): string | undefined {
  return environment[name]?.trim() || undefined;
}

function isTooLong(environment: Environment, name: string): boolean {
  return (environment[name]?.length ?? 0) > MOST;
}

function refuseSettings(message: string, hint: string): Result<never> {
  return refused({ message, hint });
}
