/** Tokens that open an inspector's address: one for its reader, and others that work once. */
import { randomBytes } from "node:crypto";
import { isSameSecret } from "@metier/base/digest";

interface OpeningTokens {
  /** Counts until the inspector ends. */
  readonly lasting: string;
  makeOnce(): string;
  accepts(token: string): boolean;
}

export function openTokens(): OpeningTokens {
  const make = (): string => randomBytes(32).toString("base64url");
  const lasting = make();
  const once = new Set<string>();
  return {
    lasting,
    makeOnce() {
      const token = make();
      once.add(token);
      return token;
    },
    accepts(token) {
      const found = [lasting, ...once].filter((known) => isSameSecret(token, known));
      for (const known of found) once.delete(known);
      return found.length > 0;
    },
  };
}
