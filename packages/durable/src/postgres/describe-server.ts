/** What is said to whoever opens a database that cannot be used. Passwords are not in it. */
import { type Refused, refused } from "@metier/base/result";
import { faultCode, isPassing, NO_TLS } from "./faults.ts";
import type { Pool } from "./open-pool.ts";

/** As `host:port/database`. */
export function describeServer({ options }: Pool): string {
  const places = options.host.map((host, index) => `${host}:${options.port[index] ?? options.port[0]}`);
  return `${places.join(",")}/${options.database}`;
}

/** Not the password or the role, not there, no such database. Anything else is the host's, and is thrown. */
export function refuseFault(pool: Pool, fault: unknown): Refused {
  const server = describeServer(pool);
  const code = faultCode(fault) ?? "";
  const message = fault instanceof Error ? fault.message : String(fault);
  if (code.startsWith("28")) {
    return refused({
      message: `Postgres at \`${server}\` does not let \`${pool.options.user}\` in: ${message}.`,
      hint: "Look at the user and the password in the URL, and at pg_hba.conf of the server.",
    });
  }
  if (code === "3D000") {
    return refused({
      message: `There is no database \`${pool.options.database}\` at \`${server}\`.`,
      hint: `Create it: CREATE DATABASE "${pool.options.database}";`,
    });
  }
  if (code === NO_TLS) {
    return refused({
      message: `There is no TLS to Postgres at \`${server}\` as \`sslmode\` in the URL wants it: ${message}.`,
      hint: "For a certificate of your own authority set NODE_EXTRA_CA_CERTS; `sslmode=require` takes any certificate.",
    });
  }
  if (isPassing(fault) || code === "ENOTFOUND") {
    return refused({
      message: `Postgres at \`${server}\` cannot be reached: ${message}.`,
      hint: "Look at the host and the port in the URL, and whether the server runs.",
    });
  }
  throw fault;
}
