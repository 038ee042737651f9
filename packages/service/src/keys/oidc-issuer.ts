/**
 * The token issuer: its document and public keys, fetched on first use and cached for a while. Its answers are bounded;
 * while it doesn't answer, it isn't asked again for every token.
 */
import { presentFields } from "@metier/base/json";
import { fitShape, listShape, recordShape, textShape } from "@metier/base/shape";
import type { JWTVerifyGetKey } from "jose";
import type { AuthorizationServer } from "oauth4webapi";
import { checkIssuerAddress, type OidcSettings } from "./oidc-settings.ts";

const DOCUMENT_MS = 3_600_000;
const TIMEOUT_MS = 5_000;
const MOST_BYTES = 512 * 1024;
const REST_MS = 10_000;

export interface OidcIssuer {
  readonly server: AuthorizationServer;
  /** Finds a token's key; new keys are fetched, at most once in a while. */
  readonly keys: JWTVerifyGetKey;
}

/** It doesn't answer, or not as an issuer should. */
export class IssuerUnavailable extends Error {
  override readonly name = "IssuerUnavailable";
}

interface IssuerParts {
  readonly settings: Pick<OidcSettings, "issuer" | "restMs">;
  now(): number;
}

/** Rejects with `IssuerUnavailable`. */
export function openIssuer({ settings, now }: IssuerParts): () => Promise<OidcIssuer> {
  const { issuer: address, restMs = REST_MS } = settings;
  let known: { readonly issuer: OidcIssuer; readonly until: number } | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<OidcIssuer> | undefined;
  const readAgain = async (): Promise<OidcIssuer> => {
    try {
      const issuer = await readIssuer(address, restMs, now);
      known = { issuer, until: now() + DOCUMENT_MS };
      return issuer;
    } catch (fault) {
      failedAt = now();
      // Its last answer is good enough if there is nothing new.
      if (known !== undefined) return known.issuer;
      throw fault instanceof IssuerUnavailable ? fault : new IssuerUnavailable(String(fault));
    } finally {
      reading = undefined;
    }
  };
  return async () => {
    if (known !== undefined && known.until > now()) return known.issuer;
    if (now() - failedAt < restMs) {
      if (known !== undefined) return known.issuer;
      throw new IssuerUnavailable("The identity provider did not answer a moment ago.");
    }
    reading ??= readAgain();
    return reading;
  };
}

async function readIssuer(issuer: string, restMs: number, now: () => number): Promise<OidcIssuer> {
  const [oauth, jose] = await Promise.all([import("oauth4webapi"), import("jose")]);
  const address = new URL(issuer);
  const response = await oauth.discoveryRequest(address, {
    algorithm: "oidc",
    signal: AbortSignal.timeout(TIMEOUT_MS),
    [oauth.customFetch]: fetchBounded,
    [oauth.allowInsecureRequests]: address.protocol === "http:",
  });
  const server = await oauth.processDiscoveryResponse(address, response);
  const { jwks_uri: place = "" } = server;
  const fault = checkIssuerAddress(place);
  if (fault !== undefined) throw new IssuerUnavailable(`Its \`jwks_uri\` cannot be used: ${fault}`);
  const keys = jose.createRemoteJWKSet(new URL(place), {
    timeoutDuration: TIMEOUT_MS,
    cooldownDuration: restMs,
    [jose.customFetch]: restAfterFailure(fetchKeys, restMs, now),
  });
  return { server, keys };
}

interface FetchOptions {
  readonly method: string;
  readonly headers: Headers | Record<string, string>;
  readonly body?: URLSearchParams | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Fetch = (url: string, options: FetchOptions) => Promise<Response>;

/** jose pauses after it got keys; after a failure it would ask again for each token. */
function restAfterFailure(fetchOnce: Fetch, restMs: number, now: () => number): Fetch {
  let failedAt = Number.NEGATIVE_INFINITY;
  return async (url, options) => {
    if (now() - failedAt < restMs)
      throw new IssuerUnavailable("The identity provider did not answer a moment ago.");
    try {
      return await fetchOnce(url, options);
    } catch (fault) {
      failedAt = now();
      throw new IssuerUnavailable(String(fault));
    }
  };
}

const keysShape = recordShape<{ readonly keys: readonly object[] }>({
  keys: listShape(recordShape<{ readonly kty: string }>({ kty: textShape })),
});

const fetchKeys: Fetch = async (url, options) => {
  const response = await fetchBounded(url, options);
  const isSound = response.status === 200 && fitShape(keysShape, await response.clone().json()) !== undefined;
  if (!isSound) throw new IssuerUnavailable(`It answered ${response.status} instead of keys.`);
  return response;
};

/** Follows no redirect: only the issuer itself may provide keys and tokens. */
export const fetchBounded: Fetch = async (url, options) => {
  const response = await fetch(url, { ...presentFields(options), redirect: "manual" });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new IssuerUnavailable(`It answered with more than ${MOST_BYTES} bytes.`);
    chunks.push(chunk);
  }
  const type = response.headers.get("content-type");
  const headers = type === null ? {} : { "content-type": type };
  return new Response(size === 0 ? null : Buffer.concat(chunks), { status: response.status, headers });
};
