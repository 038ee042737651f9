/**
 * The settings of OIDC, from the environment: whose tokens are taken, for whom they must be made, and which of their claims
 * name the tenant and the role. Half of them are no settings: the start is refused, with what is missing.
 */
import { isLoopbackHost } from "@metier/base/net";
import type { Environment } from "@metier/base/programs";
import { done, type Result, refused } from "@metier/base/result";
import { showNames, showValue } from "@metier/base/text";

export interface OidcSettings {
  /** Where its document lies, and what `iss` of its tokens is. */
  readonly issuer: string;
  /** What `aud` of its tokens must have. */
  readonly audience: string;
  readonly tenantClaim: string;
  readonly roleClaim: string;
  /** With which the page signs people in; absent: it takes keys only. */
  readonly client?: OidcClient | undefined;
  /** So long the issuer is left alone after it did not answer, and after its keys were read. Default: 10 s. */
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

/** `undefined`: none is set, and there are keys only. */
export function readOidcSettings(environment: Environment): Result<OidcSettings | undefined> {
  const names = [ISSUER, AUDIENCE, TENANT_CLAIM, ROLE_CLAIM, CLIENT_ID, CLIENT_SECRET];
  const given = names.filter((name) => read(environment, name) !== undefined);
  const [issuer, audience] = [read(environment, ISSUER), read(environment, AUDIENCE)];
  if (given.length === 0) return done(undefined);
  if (issuer === undefined || audience === undefined) {
    const missing = [ISSUER, AUDIENCE].filter((name) => !given.includes(name));
    return refuseSettings(
      `OIDC is set in part: ${showNames(given)} without ${showNames(missing)}.`,
      `Set ${showNames(missing)} too, or unset ${showNames(given)}.`,
    );
  }
  const tooLong = given.find(
    (name) => !/^[\x20-\x7e]+$/.test(environment[name] ?? "") || isTooLong(environment, name),
  );
  if (tooLong !== undefined) {
    return refuseSettings(
      `${tooLong} has more than ${MOST} characters, or one that is not visible ASCII.`,
      "Copy it again from the settings of your identity provider.",
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
  "Use the address that the identity provider gives as its issuer, such as `https://login.example.com/realms/main`.";

/** What is wrong with an address that is asked for keys and tokens; `undefined`: nothing. */
export function checkIssuerAddress(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null) return "it must be an address.";
  const isOpen = url.protocol === "http:" && isLoopbackHost(url.hostname);
  if (url.protocol !== "https:" && !isOpen) return "it must begin with `https://`, except on this machine.";
  if (url.username !== "" || url.password !== "" || url.hash !== "" || url.search !== "")
    return "it must have no user, query or fragment.";
  return undefined;
}

function readClient(environment: Environment): Result<OidcClient | undefined> {
  const [id, secret] = [read(environment, CLIENT_ID), read(environment, CLIENT_SECRET)];
  if (id === undefined && secret === undefined) return done(undefined);
  if (id !== undefined && secret !== undefined) return done({ id, secret });
  const [there, missing] = id === undefined ? [CLIENT_SECRET, CLIENT_ID] : [CLIENT_ID, CLIENT_SECRET];
  return refuseSettings(
    `${there} is set without ${missing}.`,
    `Set both to let people sign in on the page, or unset ${there}: tokens are taken without them.`,
  );
}

/** What is empty is not set: files for containers often name all variables. */
function read(environment: Environment, name: string): string | undefined {
  return environment[name]?.trim() || undefined;
}

function isTooLong(environment: Environment, name: string): boolean {
  return (environment[name]?.length ?? 0) > MOST;
}

function refuseSettings(message: string, hint: string): Result<never> {
  return refused({ message, hint });
}
