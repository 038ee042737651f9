/** Digests in Metier's format, `sha256:…`, and comparing secrets by them. */
import { createHash, hash, timingSafeEqual } from "node:crypto";
import { nativeCode } from "./files/own-package.ts";

const DIGEST = /^sha256:[0-9a-f]{64}$/;

export function isDigest(value: unknown): value is string {
  return typeof value === "string" && DIGEST.test(value);
}

/** C code (`packages/skills/native/digest.h`), where the build made it: `node:crypto` takes milliseconds to load. */
interface NativeDigest {
  sha256?(bytes: Uint8Array): string | undefined;
}

export function digestBytes(content: string | Uint8Array): string {
  const native = nativeCode() as NativeDigest | undefined;
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  return `sha256:${native?.sha256?.(bytes) ?? hash("sha256", bytes)}`;
}

/** Takes the same time for any input. */
export function isSameSecret(given: string, secret: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(secret));
}
