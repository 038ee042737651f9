/** Digests in Metier's format, `sha256:…`, and comparing secrets by them. */
import { createHash, hash, timingSafeEqual } from "node:crypto";

const DIGEST = /^sha256:[0-9a-f]{64}$/;

export function isDigest(value: unknown): value is string {
  return typeof value === "string" && DIGEST.test(value);
}

export function digestBytes(content: string | Uint8Array): string {
  return `sha256:${hash("sha256", content)}`;
}

/** Takes the same time for any input. */
export function isSameSecret(given: string, secret: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(secret));
}
