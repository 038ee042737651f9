/** A real identity provider on loopback: `oidc-provider`, with keys that the test has, too, so that it can forge tokens. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { onTestFinished } from "vitest";

export const AUDIENCE = "https://metier.example/api";
export const CLIENT = { id: "metier-page", secret: "a secret of the page that nobody else has" };
/** Gets tokens for programs. */
const PROGRAM = { id: "a-program", secret: "a secret of the program" };

export interface IssuerKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

type Claims = Readonly<Record<string, unknown>>;

interface IssuerOptions {
  /** Default: a free one. */
  readonly port?: number;
  readonly keys?: readonly IssuerKey[];
  /** Where the page is sent back to. */
  readonly redirect?: string;
  /** What it says about whoever signs in or gets a token. */
  readonly claims?: Claims;
}

export interface TestIssuer {
  readonly url: string;
  readonly port: number;
  /** How often its keys were asked for. */
  readonly asked: { keys: number };
  /** A token as the provider itself makes it, for a program. */
  fetchToken(): Promise<string>;
  stop(): Promise<void>;
}

interface Provider {
  callback(): (request: object, response: object) => void;
  on(event: string, listener: (...values: readonly unknown[]) => void): void;
}

type ProviderClass = new (issuer: string, configuration: object) => Provider;

export async function makeKey(kid: string, algorithm = "RS256"): Promise<IssuerKey> {
  return { kid, ...(await generateKeyPair(algorithm, { extractable: true })) };
}

export async function startIssuer({
  port = 0,
  keys,
  redirect = "http://127.0.0.1/cb",
  claims = {},
}: IssuerOptions = {}): Promise<TestIssuer> {
  const own = keys ?? [await makeKey("first")];
  const jwks = await Promise.all(own.map(exportPrivate));
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const name = "oidc-provider"; // It brings no types.
  const { default: ProviderOf } = (await import(name)) as { readonly default: ProviderClass };
  const provider = new ProviderOf(url, configure(jwks, redirect, claims));
  const asked = { keys: 0 };
  const answer = provider.callback();
  server.on("request", (request, response) => {
    if (request.url === "/jwks") asked.keys += 1;
    answer(request, response);
  });
  const stop = () => close(server);
  onTestFinished(stop);
  return {
    url,
    asked,
    port: (server.address() as AddressInfo).port,
    stop,
    async fetchToken() {
      const form = { grant_type: "client_credentials", resource: AUDIENCE, scope: "use" };
      const authorization = `Basic ${Buffer.from(`${PROGRAM.id}:${encodeURIComponent(PROGRAM.secret)}`).toString("base64")}`;
      const response = await fetch(`${url}/token`, {
        method: "POST",
        headers: { authorization },
        body: new URLSearchParams(form),
      });
      return String(((await response.json()) as Claims).access_token);
    },
  };
}

function configure(keys: readonly JWK[], redirect: string, claims: Claims): object {
  const names = Object.keys(claims);
  return {
    jwks: { keys },
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirect],
        response_types: ["code"],
        grant_types: ["authorization_code"],
      },
      {
        client_id: PROGRAM.id,
        client_secret: PROGRAM.secret,
        redirect_uris: [],
        response_types: [],
        grant_types: ["client_credentials"],
      },
    ],
    claims: { openid: ["sub", ...names] },
    conformIdTokenClaims: false,
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id, ...claims }),
    }),
    extraTokenClaims: async () => claims,
    pkce: { required: () => true },
    features: {
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: "use",
          audience: AUDIENCE,
          accessTokenTTL: 600,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  };
}

async function exportPrivate({ kid, privateKey }: IssuerKey): Promise<JWK> {
  return { ...(await exportJWK(privateKey)), kid, use: "sig", alg: "RS256" };
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

interface TokenOptions {
  readonly key: IssuerKey;
  readonly issuer: string;
  readonly header?: Claims;
  readonly algorithm?: string;
}

/** A token as the provider would make it, but for what the test says. `undefined` takes a claim away. */
export function signToken(
  claims: Claims,
  { key, issuer, header = {}, algorithm = "RS256" }: TokenOptions,
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const usual = {
    iss: issuer,
    aud: AUDIENCE,
    sub: "ada",
    iat: now,
    exp: now + 600,
    jti: "1",
    client_id: "x",
  };
  const all = Object.entries({ ...usual, ...claims }).filter(([, value]) => value !== undefined);
  return new SignJWT(Object.fromEntries(all))
    .setProtectedHeader({ alg: algorithm, kid: key.kid, typ: "at+jwt", ...header })
    .sign(key.privateKey);
}
