/** A message to be sent, as RFC 5322 and MIME want it. Whoever asks for it cannot write a header of their own. */
import type { Address } from "./addresses.ts";
import { encodeWords } from "./encoded-words.ts";

export interface Draft {
  readonly from: Address;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** Of the message that is answered, with its brackets. */
  readonly inReplyTo?: string;
  readonly messageId: string;
  readonly date: Date;
}

/** One plain address: no name, no list, no line break. The schemas have the same. */
export const ADDRESS_PATTERN = '^[^\\s<>()\\[\\],;:"\\\\@]{1,64}@[^\\s<>()\\[\\],;:"\\\\@]{1,253}$';
const BASE64_LINE = 76;

export function composeMessage(draft: Draft): string {
  const { from, to, cc, inReplyTo } = draft;
  const fields: readonly (readonly [name: string, value: string])[] = [
    ["From", from.name ? `${quoteName(from.name)} <${from.address}>` : from.address],
    ["To", to.join(",\r\n ")],
    ...(cc.length > 0 ? [["Cc", cc.join(",\r\n ")] as const] : []),
    ["Subject", encodeWords(oneLine(draft.subject))],
    ["Date", draft.date.toUTCString().replace("GMT", "+0000")],
    ["Message-ID", draft.messageId],
    ...(inReplyTo ? [["In-Reply-To", inReplyTo] as const, ["References", inReplyTo] as const] : []),
    ["MIME-Version", "1.0"],
    ["Content-Type", "text/plain; charset=utf-8"],
    ["Content-Transfer-Encoding", "base64"],
  ];
  const body = Buffer.from(draft.text.replace(/\r\n?|\n/g, "\r\n")).toString("base64");
  const lines = body.match(new RegExp(`.{1,${BASE64_LINE}}`, "g")) ?? [];
  return `${fields.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${lines.join("\r\n")}\r\n`;
}

function quoteName(name: string): string {
  const line = oneLine(name);
  if (!/^[\x20-\x7e]*$/.test(line)) return encodeWords(line);
  return `"${line.replace(/["\\]/g, "\\$&")}"`;
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}
