/** Who gets in: with a key, with a token of the issuer, or with a cookie that stands for either. */
import { isLoopbackHost } from "@metier/base/net";
import { done } from "@metier/base/result";
import type { RecordStore } from "@metier/durable";
import { openTenantStore, type TenantStore } from "../tenants/tenant-store.ts";
import { type Authenticator, createAuthenticator, isOidcKeyId } from "./authenticate.ts";
import { type KeyStore, openKeyStore } from "./key-store.ts";
import { openIssuer } from "./oidc-issuer.ts";
import { readPerson } from "./oidc-person.ts";
import type { OidcSettings } from "./oidc-settings.ts";
import { type OidcSignIn, openOidcSignIn } from "./oidc-sign-in.ts";
import { verifyToken } from "./oidc-tokens.ts";
import { openPseudonyms, type Pseudonyms } from "./pseudonyms.ts";
import { openSignIns, type SignIns } from "./sign-ins.ts";

interface DoorParts {
  readonly records: RecordStore;
  /** `METIER_ADMIN_KEY`. */
  readonly adminKey?: string | undefined;
  readonly oidc?: OidcSettings | undefined;
  readonly host: string;
  readonly mostFailures: number;
  now(): number;
  onFailure(): void;
}

/** How people sign in on the page through the issuer. */
interface PageSignIn extends OidcSignIn {
  /** Who someone is, by what the issuer says about them. */
  readPerson(claims: Readonly<Record<string, unknown>>): ReturnType<typeof readPerson>;
}

export interface ServiceDoor {
  readonly keys: KeyStore;
  readonly signIns: SignIns;
  readonly tenants: TenantStore;
  readonly people: Pseudonyms;
  readonly authenticate: Authenticator;
  /** Absent: the page only takes keys. */
  readonly oidc?: PageSignIn | undefined;
  /** Whether only this machine reaches the service. */
  readonly isOnLoopback: boolean;
}

export function openDoor(parts: DoorParts): ServiceDoor {
  const { records, oidc: settings, now } = parts;
  const tenants = openTenantStore(records);
  const people = openPseudonyms(records);
  const signIns = openSignIns(records);
  const keys = watchKeys(openKeyStore(records), { signIns, tenants, people });
  const isOnLoopback = isLoopbackHost(parts.host);
  const issuer = settings && openIssuer({ settings, now });
  const checkToken =
    settings &&
    issuer &&
    (async (token: string) => {
      const verified = await verifyToken({ settings, issuer, now }, token);
      if (!verified.ok) return verified;
      const person = await readPerson({ settings, tenants }, verified.value.claims);
      return person.ok ? done({ ...person.value, expiresAt: verified.value.expiresAt }) : person;
    });
  const client = settings?.client;
  return {
    keys,
    signIns,
    tenants,
    people,
    isOnLoopback,
    authenticate: createAuthenticator({ ...parts, keys, signIns, tenants, people, isOnLoopback, checkToken }),
    oidc:
      settings && client && issuer
        ? {
            ...openOidcSignIn({ client, issuer, now }),
            readPerson: (claims) => readPerson({ settings, tenants }, claims),
          }
        : undefined,
  };
}

/**
 * Long-lasting requests are checked for more than the key: the cookie, the token's expiry, the tenant and the person.
 */
function watchKeys(
  stored: KeyStore,
  { signIns, tenants, people }: Pick<ServiceDoor, "signIns" | "tenants" | "people">,
): KeyStore {
  return {
    ...stored,
    async stillActs(identity, at) {
      const { tenant, userId, keyId, expiresAt, signIn } = identity;
      if (expiresAt !== undefined && expiresAt <= at) return false;
      if (signIn && !(await signIns.isOpen({ tenant, id: signIn.id }, at))) return false;
      if (!(await tenants.isActive(tenant))) return false;
      const person = userId === undefined ? undefined : await people.find(tenant, userId);
      if (person?.isLeaving || (person === undefined && isOidcKeyId(keyId))) return false;
      return stored.stillActs(identity, at);
    },
  };
}
