/** The URL of a database: one server, by `postgres:`, with or without TLS. */
import { done, type Result, refused } from "@metier/base/result";
import type { Security } from "./connect-socket.ts";

const KNOWN: readonly Security[] = ["disable", "prefer", "require", "verify-full"];

/** What the driver does not say by itself. The URL may have a password in it, so no message repeats it. */
export function readUrl(text: string): Result<Security> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["postgres:", "postgresql:"].includes(url.protocol) || url.host.includes(",")) {
    return refused({
      message: "The URL of the database is not one of a Postgres server.",
      hint: "It is `postgres://user:password@host:5432/database`. A proxy or a name that follows the primary stands for several servers.",
    });
  }
  const mode = url.searchParams.get("sslmode") ?? "prefer";
  const security = KNOWN.find((known) => known === mode);
  if (security !== undefined) return done(security);
  return refused({
    message: `\`sslmode=${mode}\` in the URL of the database is not known.`,
    hint: `It is one of ${KNOWN.map((known) => `\`${known}\``).join(", ")}.`,
  });
}
