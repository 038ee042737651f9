/**
 * Connections to Postgres, for independent statements: one statement is one transaction, one message and one answer,
 * and the driver sends several over one connection without waiting.
 *
 * For a transaction of several statements, use `reserve()`, never `begin()`: it can mix the statements of two callers
 * when all connections are in use (porsager/postgres#823). Never use or release a reserved connection that was lost:
 * the driver would write to a closed socket.
 */
import type { Socket } from "node:net";
import postgres from "postgres";
import { connectSocket } from "./connect-socket.ts";
import { readUrl } from "./read-url.ts";
import { listTypes } from "./write-array.ts";

export type Pool = postgres.Sql;

interface PoolOptions {
  /** The most connections it opens. */
  readonly most: number;
  /** Names columns `createdAt` instead of `created_at`, as openworkflow's backend expects. */
  readonly hasCamelColumns?: boolean | undefined;
  /** `reserve()` is called. Without array types (`write-array.ts`), it waits forever for a new connection. */
  readonly hasTransactions?: boolean | undefined;
  /** Settings for each new connection. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/** Connects on the first statement. `url` is one that `readUrl` accepts. */
export function openPool(url: string, options: PoolOptions): Pool {
  const { most, hasCamelColumns = false, hasTransactions = false, settings } = options;
  const read = readUrl(url);
  if (!read.ok) throw new Error(read.refusal.message);
  const security = read.value;
  const socket = ({ host: [host = ""], port: [port = 0], path }: Pool["options"]): Promise<Socket> =>
    connectSocket({ host, port, path: path || undefined, security });
  return postgres(url, {
    ssl: false, // By `connectSocket`.
    ...({ socket } satisfies { socket: unknown }), // Documented, but missing from its types.
    fetch_types: hasTransactions,
    types: listTypes(),
    max: most,
    connect_timeout: 10,
    backoff: (retries) => Math.min(0.01 * 2 ** retries, 1),
    idle_timeout: 120, // The driver may open one just after it was told to end.
    onnotice: () => undefined, // Such as a table that already exists: nobody reads it, and the driver would print it.
    connection: { application_name: "metier", ...settings },
    ...(hasCamelColumns && { transform: { column: { from: postgres.toCamel } } }),
  });
}
