/** `METIER_PRIVATE_HOSTS`: hosts that tenants may name although they are not public. Read here and nowhere else. */
import type { Environment } from "@metier/base/programs";
import { done, type Result, refused } from "@metier/base/result";
import { showValue } from "@metier/base/text";
import { type AddressBook, readDomainGrant } from "@metier/sandbox/egress";

/** Which addresses of tenants may be asked. */
export interface TenantEgress {
  readonly privateHosts: readonly string[];
  /** Default: the machine's own. */
  readonly addresses?: AddressBook;
}

/** Refused: something that is no host. A start with it would allow less, or other, than was meant. */
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
    message: `METIER_PRIVATE_HOSTS names ${showValue(wrong)}, which is not a host.`,
    hint: "Write hosts with commas between, each with its port unless that is 80 or 443: `models.corp,10.0.0.7:8000`.",
  });
}
