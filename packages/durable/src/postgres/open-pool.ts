/**
 * Connections to Postgres. What is opened here is for statements that stand by themselves: one statement is one transaction,
 * one message and one answer, and the driver sends several of them down one connection without waiting.
 *
 * Whoever needs a transaction of several statements takes `reserve()` first and never `begin()`, which can mix the statements
 * of two callers when all connections are in use (porsager/postgres#823). A reserved connection that was lost must not be
 * used or released any more: the driver would write to a socket that is gone.
 */
import type { Socket } from "node:net";
import postgres from "postgres";
import { connectSocket } from "./connect-socket.ts";
import { readUrl } from "./read-url.ts";
import { listTypes } from "./write-array.ts";

export type Pool = postgres.Sql;

interface PoolOptions {
  /** How many connections at most. */
  readonly most: number;
  /** Columns as `createdAt` instead of `created_at`: openworkflow's backend wants them so. */
  readonly hasCamelColumns?: boolean | undefined;
  /** `reserve()` is called. Where no types of lists are asked for (`write-array.ts`), it waits for ever for a new connection. */
  readonly hasTransactions?: boolean | undefined;
  /** What each connection is started with. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/** Connects with the first statement. `url` is one that `readUrl` reads. */
export function openPool(url: string, options: PoolOptions): Pool {
  const { most, hasCamelColumns = false, hasTransactions = false, settings } = options;
  const read = readUrl(url);
  if (!read.ok) throw new Error(read.refusal.message);
  const security = read.value;
  const socket = ({ host: [host = ""], port: [port = 0], path }: Pool["options"]): Promise<Socket> =>
    connectSocket({ host, port, path: path || undefined, security });
  return postgres(url, {
    ssl: false, // By `connectSocket`.
    ...({ socket } satisfies { socket: unknown }), // Documented, and missing in its types.
    fetch_types: hasTransactions,
    types: listTypes(),
    max: most,
    connect_timeout: 10,
    backoff: (retries) => Math.min(0.01 * 2 ** retries, 1),
    idle_timeout: 120, // The driver opens some that it was told to end a moment before.
    onnotice: () => undefined, // Such as a table that is there already: nobody reads it, and the driver would print it.
    connection: { application_name: "metier", ...settings },
    ...(hasCamelColumns && { transform: { column: { from: postgres.toCamel } } }),
  });
}
