/** Bytes from the web as text: which media types are text at all, and in which charset. */
import type { FetchedAnswer } from "../../egress/guarded-fetch.ts";
import { htmlToText } from "./html-to-text.ts";

const HTML = /^(?:text\/html|application\/xhtml\+xml)$/;
/** A server that states no type is given a chance; what it sends is read as text. */
const TEXT =
  /^$|^text\/|^application\/(?:(?:x-)?(?:json|jsonl|ndjson|xml|yaml|toml|javascript|sql|sh)|ld\+json|x-ndjson)$|\+(?:json|xml|yaml)$/;
const IMAGE = /^image\//;

export function isTextType(mediaType: string): boolean {
  return TEXT.test(mediaType) && !IMAGE.test(mediaType);
}

/** HTML becomes plain text. */
export function decodeText({ bytes, charset, mediaType, url }: FetchedAnswer): string {
  const isHtml = HTML.test(mediaType);
  const text = decodeBytes(bytes, charset ?? (isHtml ? declaredCharset(bytes) : undefined));
  return isHtml ? htmlToText(text, url) : text;
}

/** An unknown charset is read as UTF-8, as most of the web is. */
function decodeBytes(bytes: Buffer, charset: string | undefined): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** `<meta charset="…">`, which stands at the beginning of a page. */
function declaredCharset(bytes: Buffer): string | undefined {
  return /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]{1,40})/i.exec(bytes.toString("latin1", 0, 1024))?.[1];
}
