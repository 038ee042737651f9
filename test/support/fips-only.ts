/** A configuration of OpenSSL that allows only algorithms of a FIPS module, which is not there: Node then has no digests. */
import { join } from "node:path";
import { temporaryFolder, writeTree } from "./temporary.ts";

const CONFIG = `nodejs_conf = start
[start]
providers = all_providers
alg_section = all_algorithms
random = all_random
[all_algorithms]
default_properties = fips=yes
[all_random]
random = CTR-DRBG
properties = -fips
[all_providers]
default = usual
[usual]
activate = 1
`;

/** For the environment of a process that starts with it. */
export function fipsOnly(): { readonly OPENSSL_CONF: string } {
  const folder = temporaryFolder();
  writeTree(folder, { "openssl.cnf": CONFIG });
  return { OPENSSL_CONF: join(folder, "openssl.cnf") };
}
