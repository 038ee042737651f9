/** A database URL: one server, with `postgres:`, with or without TLS. */
import { done, type Result, refused } from "@metier/base/result";
import type { Security } from "./connect-socket.ts";

const KNOWN: readonly Security[] = ["disable", "prefer", "require", "verify-full"];

/** Problems that the driver doesn't report. The URL may contain a password, so no message repeats it. */
export function readUrl(text: string): Result<Security> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["postgres:", "postgresql:"].includes(url.protocol) || url.host.includes(",")) {
    return refused({
      message: "The database URL is not a Postgres URL.",
      hint: "Write `postgres://user:password@host:5432/database`. For several servers, use a proxy or a host name that follows the primary.",
    });
  }
  const mode = url.searchParams.get("sslmode") ?? "prefer";
  const security = KNOWN.find((known) => known === mode);
  if (security !== undefined) return done(security);
  return refused({
    message: `\`sslmode=${mode}\` in the database URL is unknown.`,
    hint: `Use one of ${KNOWN.map((known) => `\`${known}\``).join(", ")}.`,
  });
}
