/** Digests as Metier writes them, `sha256:…`, and the comparison of secrets by them. */
import crypto, { createHash, timingSafeEqual } from "node:crypto";

const DIGEST = /^sha256:[0-9a-f]{64}$/;

export function isDigest(value: unknown): value is string {
  return typeof value === "string" && DIGEST.test(value);
}

export function digestBytes(content: string | Uint8Array): string {
  return `sha256:${digestAtOnce(content)}`;
}

/** Without an object for each digest, which a Node before 20.12 needs. */
const digestAtOnce: (content: string | Uint8Array) => string =
  typeof crypto.hash === "function"
    ? (content) => crypto.hash("sha256", content, "hex")
    : (content) => createHash("sha256").update(content).digest("hex");

/** Takes the same time, whatever was given. */
export function isSameSecret(given: string, secret: string): boolean {
  const hash = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(given), hash(secret));
}
