/** `METIER_PRIVATE_HOSTS`: non-public hosts that tenants may use. Read only here. */
import type { Environment } from "@metier/base/programs";
import { done, type Result, refused } from "@metier/base/result";
import { showValue } from "@metier/base/text";
import { type AddressBook, readDomainGrant } from "@metier/sandbox/egress";

/** Which tenant addresses may be contacted. */
export interface TenantEgress {
  readonly privateHosts: readonly string[];
  /** Default: the machine's own. */
  readonly addresses?: AddressBook;
}

/** Refused if an entry isn't a host. Starting with it would allow less, or something else, than intended. */
export function readPrivateHosts({
  METIER_PRIVATE_HOSTS: text = "",
}: Environment): Result<readonly string[]> {
  const hosts = text
    .split(",")
    .map((host) => host.trim())
    .filter((host) => host !== "");
  // `*` alone would be every host.
  const wrong = hosts.find((host) => !readDomainGrant(host)?.host);
  if (wrong === undefined) return done(hosts);
  return refused({
    message: `METIER_PRIVATE_HOSTS contains ${showValue(wrong)}, which is not a host.`,
    hint: "Separate hosts with commas and give each its port unless it is 80 or 443: `models.corp,10.0.0.7:8000`.",
  });
}
