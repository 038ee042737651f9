/** A message as a reader wants it: who, when, about what, its text and what is attached. Never throws. */
import { cleanText } from "../../disclose/clean-text.ts";
import { htmlToText } from "../../tools/web/html-to-text.ts";
import { type Address, readAddresses, shortLine } from "./addresses.ts";
import { decodeCharset } from "./charset.ts";
import { decodeWords } from "./encoded-words.ts";
import { type Header, readHeader } from "./header-fields.ts";
import { MAX_ATTACHMENTS, MAX_TEXT_CHARACTERS } from "./limits.ts";
import { type MimePart, readMimeTree } from "./mime-tree.ts";
import { decodeTransfer } from "./transfer-encoding.ts";

export interface Envelope {
  readonly from?: Address;
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  readonly subject: string;
  /** ISO 8601, UTC, by the sender's word. */
  readonly date?: string;
  /** With its brackets, if it is one that can be answered to. */
  readonly messageId?: string;
}

export interface Attachment {
  readonly name: string;
  readonly type: string;
  readonly size: number;
}

export interface ReadMessage {
  readonly envelope: Envelope;
  readonly text: string;
  readonly isTextCut: boolean;
  readonly attachments: readonly Attachment[];
}

/** Four bytes are the most that a character takes; in `base64` or with escapes it is three times as much. */
const MAX_BODY_BYTES = 12 * MAX_TEXT_CHARACTERS;

export function readEnvelope(bytes: Buffer): Envelope {
  return envelopeOf(readHeader(bytes));
}

export function readMessage(bytes: Buffer): ReadMessage {
  const tree = readMimeTree(bytes);
  const { text } = cleanText(textOf(tree).trim());
  return {
    envelope: envelopeOf(tree.header),
    text: text.slice(0, MAX_TEXT_CHARACTERS),
    isTextCut: text.length > MAX_TEXT_CHARACTERS,
    attachments: attachmentsOf(tree).slice(0, MAX_ATTACHMENTS),
  };
}

function envelopeOf(header: Header): Envelope {
  const [from] = readAddresses(header.get("from"));
  const date = readDate(header.get("date"));
  const messageId = /^<[!-;=?-~]{3,250}>$/.exec(header.get("message-id") ?? "")?.[0];
  return {
    ...(from && { from }),
    to: readAddresses(header.get("to")),
    cc: readAddresses(header.get("cc")),
    subject: shortLine(decodeWords(header.get("subject") ?? "")),
    ...(date !== undefined && { date }),
    ...(messageId !== undefined && { messageId }),
  };
}

/** Years in which there is mail; anything else is a joke of the sender. */
function readDate(raw: string | undefined): string | undefined {
  const date = new Date((raw ?? "").slice(0, 100));
  const year = date.getUTCFullYear();
  return year >= 1970 && year < 2200 ? date.toISOString() : undefined;
}

function textOf(part: MimePart): string {
  if (part.children.length > 0) {
    if (part.type.value === "multipart/alternative") return chooseAlternative(part.children);
    return part.children
      .map(textOf)
      .filter((text) => text !== "")
      .join("\n\n");
  }
  if (isAttachment(part)) return "";
  const text = decodeCharset(decodedBody(part, MAX_BODY_BYTES), part.type.parameter("charset"));
  // Links are shown as they are: a relative one leads nowhere in a mail.
  return part.type.value === "text/html" ? htmlToText(text, "about:blank") : text;
}

/** The plain form where there is one. */
function chooseAlternative(children: readonly MimePart[]): string {
  const plain = children.find(({ type }) => type.value === "text/plain");
  const texts = (plain ? [plain, ...children] : children).map(textOf);
  return texts.find((text) => text.trim() !== "") ?? "";
}

function isAttachment({ type, disposition }: MimePart): boolean {
  return disposition.value === "attachment" || !/^text\/(?:plain|html)$|^multipart\//.test(type.value);
}

function attachmentsOf(part: MimePart): readonly Attachment[] {
  if (part.children.length > 0) return part.children.flatMap(attachmentsOf);
  if (!isAttachment(part)) return [];
  const name = part.disposition.parameter("filename") ?? part.type.parameter("name") ?? "";
  return [
    {
      name: shortLine(name) || "unnamed",
      type: shortLine(part.type.value),
      size: decodedBody(part).length,
    },
  ];
}

function decodedBody({ header, body }: MimePart, most = body.length): Buffer {
  const encoding = (header.get("content-transfer-encoding") ?? "").trim().toLowerCase();
  return decodeTransfer(body.subarray(0, most), encoding);
}
