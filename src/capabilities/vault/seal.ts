/**
 * Encrypts and decrypts one entry: a JWE (`dir`, `A256GCM`), all of it done by `jose`. What an entry is bound to is not
 * written down: who decrypts must know it, so an entry that was moved or renamed opens for nobody.
 */
import type { FlattenedJWE } from "jose";
import type { JsonObject } from "../capability.ts";

export interface VaultKey {
  /** The thumbprint of RFC 7638: tells keys apart and says nothing about them. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** Loaded when the first secret comes. */
const loadJose = (): Promise<typeof import("jose")> => import("jose");

export async function makeKey(bytes: Uint8Array): Promise<VaultKey> {
  const { base64url, calculateJwkThumbprint } = await loadJose();
  return { id: await calculateJwkThumbprint({ kty: "oct", k: base64url.encode(bytes) }), bytes };
}

export async function seal(secret: JsonObject, key: VaultKey, boundTo: string): Promise<string> {
  const { FlattenedEncrypt } = await loadJose();
  const encoder = new TextEncoder();
  const { aad: _, ...sealed } = await new FlattenedEncrypt(encoder.encode(JSON.stringify(secret)))
    .setProtectedHeader({ alg: "dir", enc: "A256GCM", kid: key.id })
    .setAdditionalAuthenticatedData(encoder.encode(boundTo))
    .encrypt(key.bytes);
  return `${JSON.stringify(sealed)}\n`;
}

/** Which key a sealed text needs; `undefined` when it is none of ours. */
export async function keyIdOf(sealed: unknown): Promise<string | undefined> {
  const { decodeProtectedHeader } = await loadJose();
  try {
    return decodeProtectedHeader(sealed as FlattenedJWE).kid;
  } catch {
    return undefined; // Damaged; the caller says so.
  }
}

/** `undefined` when it is damaged, or bound to something else. */
export async function unseal(
  sealed: unknown,
  key: VaultKey,
  boundTo: string,
): Promise<JsonObject | undefined> {
  const { base64url, flattenedDecrypt } = await loadJose();
  const bound = { ...(sealed as FlattenedJWE), aad: base64url.encode(boundTo) };
  const allowed = { keyManagementAlgorithms: ["dir"], contentEncryptionAlgorithms: ["A256GCM"] };
  try {
    const { plaintext } = await flattenedDecrypt(bound, key.bytes, allowed);
    return JSON.parse(new TextDecoder().decode(plaintext)) as JsonObject;
  } catch {
    return undefined; // Which of the two it is, nobody can tell.
  }
}
