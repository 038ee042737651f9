/** Signs a compact JWT as HS256 says: in this thread, where the way to the threads of WebCrypto costs more than the signature. */
import { hash } from "node:crypto";
import { ALGORITHM } from "./read-token.ts";

/** `header`: what it says besides the algorithm. */
export function createSigner(header: object, secret: Uint8Array): (claims: object) => string {
  const head = encode({ alg: ALGORITHM, ...header });
  const sign = createHmacSigner(secret);
  return (claims) => {
    const signed = `${head}.${encode(claims)}`;
    return `${signed}.${sign(signed)}`;
  };
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

const BLOCK_BYTES = 64;

/**
 * HMAC with SHA-256 (RFC 2104), as two hashes: the `Hmac` of Node is an object that lives until it is collected, and costs
 * more than both. Throws `RangeError` for a secret that would have to be hashed first.
 */
function createHmacSigner(secret: Uint8Array): (text: string) => string {
  if (secret.length > BLOCK_BYTES) {
    throw new RangeError(`The key has ${secret.length} bytes; at most ${BLOCK_BYTES} are allowed.`);
  }
  const key = Buffer.alloc(BLOCK_BYTES);
  key.set(secret);
  const [inner, outer] = [0x36, 0x5c].map((pad) => Buffer.from(key.map((byte) => byte ^ pad)));
  const join = (pad = key, part = key): Buffer => Buffer.concat([pad, part]);
  return (text) =>
    hash("sha256", join(outer, hash("sha256", join(inner, Buffer.from(text)), "buffer")), "base64url");
}
