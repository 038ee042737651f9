/** Messages for databases that can't be used. They contain no passwords. */
import { type Refused, refused } from "@metier/base/result";
import { faultCode, isPassing, NO_TLS } from "./faults.ts";
import type { Pool } from "./open-pool.ts";

/** As `host:port/database`. */
export function describeServer({ options }: Pool): string {
  const places = options.host.map((host, index) => `${host}:${options.port[index] ?? options.port[0]}`);
  return `${places.join(",")}/${options.database}`;
}

/** Wrong password or role, unreachable, no such database. Anything else is the host's problem and is thrown. */
export function refuseFault(pool: Pool, fault: unknown): Refused {
  const server = describeServer(pool);
  const code = faultCode(fault) ?? "";
  const message = fault instanceof Error ? fault.message : String(fault);
  if (code.startsWith("28")) {
    return refused({
      message: `Postgres at \`${server}\` refused \`${pool.options.user}\`: ${message}.`,
      hint: "Check the user and password in the URL, and the server's pg_hba.conf.",
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
      message: `TLS to Postgres at \`${server}\` does not meet \`sslmode\` in the URL: ${message}.`,
      hint: "For a certificate of your own authority set NODE_EXTRA_CA_CERTS; `sslmode=require` takes any certificate.",
    });
  }
  if (isPassing(fault) || code === "ENOTFOUND") {
    return refused({
      message: `Postgres at \`${server}\` cannot be reached: ${message}.`,
      hint: "Check the host and port in the URL, and that the server is running.",
    });
  }
  throw fault;
}
