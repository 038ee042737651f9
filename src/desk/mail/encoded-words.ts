/** RFC 2047: `=?utf-8?Q?Gr=C3=BC=C3=9Fe?=` in a header, both ways. */
import { decodeCharset } from "./charset.ts";
import { decodeQuotedPrintable } from "./transfer-encoding.ts";

const ENCODED_WORD = /=\?([^?\s]{1,60})\?([BbQq])\?([^?\s]*)\?=/g;
const ASCII = /^[\x20-\x7e]*$/;
/** Characters per encoded word; at most four bytes each, so that the word stays below 75. */
const CHARACTERS_PER_WORD = 10;

interface Run {
  /** Without the language that may follow: `utf-8*en`. */
  readonly charset: string;
  readonly bytes: Buffer[];
}

/** `raw` has one character for each byte of the header. */
export function decodeWords(raw: string): string {
  const pieces: string[] = [];
  let run: Run | undefined;
  let end = 0;
  const closeRun = (): void => {
    if (run) pieces.push(decodeCharset(Buffer.concat(run.bytes), run.charset));
    run = undefined;
  };
  for (const match of raw.matchAll(ENCODED_WORD)) {
    const [whole, label = "", encoding = "", text = ""] = match;
    const between = raw.slice(end, match.index);
    // Blanks between two encoded words only keep their lines short.
    if (run === undefined || between.trim() !== "") {
      closeRun();
      pieces.push(decodeRaw(between));
    }
    const charset = (label.split("*")[0] ?? "").toLowerCase();
    // A character may be cut in two by a word's end, so bytes of one charset are put together first.
    if (run !== undefined && run.charset !== charset) closeRun();
    run ??= { charset, bytes: [] };
    run.bytes.push(decodeWord(text, encoding));
    end = match.index + whole.length;
  }
  closeRun();
  pieces.push(decodeRaw(raw.slice(end)));
  return pieces.join("");
}

function decodeWord(text: string, encoding: string): Buffer {
  if (encoding.toUpperCase() === "B") return Buffer.from(text, "base64");
  return decodeQuotedPrintable(Buffer.from(text.replaceAll("_", " "), "latin1"));
}

/** Bytes above 127 do not belong into a header, but many have them. */
function decodeRaw(raw: string): string {
  return ASCII.test(raw) ? raw : decodeCharset(Buffer.from(raw, "latin1"));
}

/** Plain text stays as it is; anything else becomes encoded words, folded. */
export function encodeWords(text: string): string {
  if (ASCII.test(text) && !text.includes("=?")) return text;
  const characters = [...text];
  const words: string[] = [];
  for (let at = 0; at < characters.length; at += CHARACTERS_PER_WORD) {
    const bytes = Buffer.from(characters.slice(at, at + CHARACTERS_PER_WORD).join(""));
    words.push(`=?utf-8?B?${bytes.toString("base64")}?=`);
  }
  return words.join("\r\n ");
}
