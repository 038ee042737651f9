/**
 * The first message of a TLS connection, as far as it says for which host it is meant. Only looked at, never changed, and
 * never trusted: whatever is not plainly a whole `ClientHello` is none.
 */

export type ClientHello =
  /** So far it could be one. */
  | { readonly kind: "incomplete" }
  | { readonly kind: "none" }
  /** `serverName` in lower case; absent when none is named. */
  | { readonly kind: "hello"; readonly serverName?: string };

const HANDSHAKE = 0x16;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const RECORD_HEADER = 5;
const MESSAGE_HEADER = 4;
/** Of one record; a longer message, in several records, is sent by nobody. */
const MAX_RECORD = 16_384;
const RANDOM_BYTES = 32;

const INCOMPLETE: ClientHello = { kind: "incomplete" };
const NONE: ClientHello = { kind: "none" };

export function readClientHello(bytes: Buffer): ClientHello {
  if (bytes.length === 0) return INCOMPLETE;
  if (bytes[0] !== HANDSHAKE || (bytes.length > 1 && bytes[1] !== 3)) return NONE;
  if (bytes.length < RECORD_HEADER) return INCOMPLETE;
  const length = bytes.readUInt16BE(3);
  if (length < MESSAGE_HEADER || length > MAX_RECORD) return NONE;
  if (bytes.length < RECORD_HEADER + length) return INCOMPLETE;
  const record = bytes.subarray(RECORD_HEADER, RECORD_HEADER + length);
  if (record[0] !== CLIENT_HELLO || record.readUIntBE(1, 3) !== length - MESSAGE_HEADER) return NONE;
  try {
    return readExtensions(record.subarray(MESSAGE_HEADER));
  } catch {
    return NONE; // A length in it leads beyond its end.
  }
}

function readExtensions(message: Buffer): ClientHello {
  let at = 2 + RANDOM_BYTES;
  at += 1 + message.readUInt8(at); // session
  at += 2 + message.readUInt16BE(at); // ciphers
  at += 1 + message.readUInt8(at); // compression
  if (at === message.length) return { kind: "hello" };
  const end = at + 2 + message.readUInt16BE(at);
  at += 2;
  if (end !== message.length) return NONE;
  let serverName: string | undefined;
  while (at < end) {
    const type = message.readUInt16BE(at);
    const next = at + 4 + message.readUInt16BE(at + 2);
    if (next > end) return NONE;
    if (type === SERVER_NAME) {
      if (serverName !== undefined) return NONE;
      serverName = readServerName(message.subarray(at + 4, next));
    }
    at = next;
  }
  return serverName === undefined ? { kind: "hello" } : { kind: "hello", serverName };
}

/** A list that holds one name, as everyone writes it. Anything else gives a name that no host has. */
function readServerName(list: Buffer): string {
  const length = list.readUInt16BE(3);
  const isOne = list.readUInt16BE(0) === list.length - 2 && list[2] === 0 && length === list.length - 5;
  return isOne ? list.toString("latin1", 5).toLowerCase() : "";
}
