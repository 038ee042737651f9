/** Undoes `quoted-printable` and `base64`, also where they are damaged: what cannot be decoded stands as it is. */

const HEX_PAIR = /^[0-9A-Fa-f]{2}$/;
const EQUALS = 0x3d;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export function decodeTransfer(body: Buffer, encoding: string): Buffer {
  if (encoding === "base64") return Buffer.from(body.toString("latin1"), "base64");
  return encoding === "quoted-printable" ? decodeQuotedPrintable(body) : body;
}

export function decodeQuotedPrintable(body: Buffer): Buffer {
  const decoded = Buffer.allocUnsafe(body.length);
  let length = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0;
    const softBreak = byte === EQUALS ? softBreakLength(body, at + 1) : 0;
    const pair = byte === EQUALS ? body.toString("latin1", at + 1, at + 3) : "";
    if (softBreak > 0) at += softBreak;
    else if (HEX_PAIR.test(pair)) {
      decoded[length++] = Number.parseInt(pair, 16);
      at += 2;
    } else decoded[length++] = byte;
  }
  return decoded.subarray(0, length);
}

/** How much of a line's end stands here. */
function softBreakLength(body: Buffer, at: number): number {
  if (body[at] === LINE_FEED) return 1;
  return body[at] === CARRIAGE_RETURN && body[at + 1] === LINE_FEED ? 2 : 0;
}
