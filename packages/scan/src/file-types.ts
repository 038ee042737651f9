/** What a file is, from its first bytes, its name and its first line. */
import { extname } from "node:path";
import type { CodeLanguage } from "./code/code-part.ts";

type BinaryKind =
  | "executable"
  | "bytecode"
  | "wasm"
  | "archive"
  | "image"
  | "document"
  | "font"
  | "media"
  | "database"
  | "unknown";

/** `at`: where it is, if not at the start. */
const SIGNATURES: readonly (readonly [BinaryKind, string, RegExp, at?: number])[] = [
  ["executable", "an ELF program", /^\x7fELF/],
  ["executable", "a Windows program", /^MZ[\s\S]{58,}?PE\0\0|^MZ\x90\0/],
  [
    "executable",
    "a macOS program",
    /^(?:\xcf\xfa\xed\xfe|\xce\xfa\xed\xfe|\xfe\xed\xfa[\xce\xcf]|\xca\xfe\xba\xbe\0\0\0[\x01-\x14])/,
  ],
  ["bytecode", "Java bytecode", /^\xca\xfe\xba\xbe/],
  ["bytecode", "Python bytecode", /^[\x00-\xff]{2}\r\n[\x00-\x03]\0\0\0|^[\x00-\xff]{2}\r\n/],
  ["bytecode", "Lua bytecode", /^\x1bLua/],
  ["bytecode", "Android bytecode", /^dex\n/],
  ["wasm", "a WebAssembly module", /^\0asm/],
  ["archive", "a ZIP archive", /^PK(?:\x03\x04|\x05\x06)/],
  ["archive", "a gzip archive", /^\x1f\x8b/],
  ["archive", "a bzip2 archive", /^BZh[1-9]/],
  ["archive", "an xz archive", /^\xfd7zXZ\0/],
  ["archive", "a 7z archive", /^7z\xbc\xaf\x27\x1c/],
  ["archive", "a RAR archive", /^Rar!\x1a\x07/],
  ["archive", "a Zstandard archive", /^\x28\xb5\x2f\xfd/],
  ["archive", "a tar archive", /^ustar/, 257],
  ["archive", "an installer package", /^(?:!<arch>\ndebian|\xed\xab\xee\xdb|xar!)/],
  ["archive", "a disk image", /^CD001/, 32_769],
  ["image", "a PNG image", /^\x89PNG\r\n\x1a\n/],
  ["image", "a JPEG image", /^\xff\xd8\xff/],
  ["image", "a GIF image", /^GIF8[79]a/],
  ["image", "a WebP image", /^RIFF[\s\S]{4}WEBP/],
  ["image", "an icon", /^\0\0\x01\0/],
  ["image", "a TIFF image", /^(?:II\*\0|MM\0\*)/],
  ["document", "a PDF document", /^%PDF-/],
  ["document", "an Office document", /^\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1/],
  ["font", "a font", /^(?:\0\x01\0\0\0|OTTO|wOFF|wOF2|ttcf)/],
  [
    "media",
    "audio or video",
    /^(?:ID3|\xff\xfb|OggS|fLaC|RIFF[\s\S]{4}(?:WAVE|AVI )|[\s\S]{4}ftyp|\x1aE\xdf\xa3)/,
  ],
  ["database", "a SQLite database", /^SQLite format 3\0/],
];

/** Most files are text. All at once, and the first `^` keeps it from trying every place. */
const STARTS = SIGNATURES.filter(([, , , at]) => at === undefined);
const ANY_START = new RegExp(`^(?:${STARTS.map(([, , { source }]) => source).join("|")})`);
const LATER = SIGNATURES.filter(([, , , at]) => at !== undefined);

export interface Signature {
  readonly kind: BinaryKind;
  /** With its article. */
  readonly what: string;
}

export function signatureOf(head: Uint8Array): Signature | undefined {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString("latin1");
  const found = (ANY_START.test(text) ? SIGNATURES : LATER).find(([, , pattern, at = 0]) =>
    pattern.test(text.slice(at)),
  );
  return found && { kind: found[0], what: found[1] };
}

/** Extensions that promise a type of content. */
const PROMISES: readonly (readonly [RegExp, readonly BinaryKind[]])[] = [
  [/\.(?:png|jpe?g|gif|webp|ico|tiff?|bmp|avif|heic)$/i, ["image", "media"]],
  [/\.pdf$/i, ["document"]],
  [
    /\.(?:docx?|xlsx?|pptx?|odt|ods|odp|epub|xps|vsdx|dotx|xltx|potx|sketch|fig|key|numbers|pages)$/i,
    ["document", "archive"],
  ],
  [/\.(?:ttf|otf|woff2?|ttc|eot)$/i, ["font"]],
  [/\.(?:mp3|mp4|wav|ogg|flac|mov|avi|webm|m4a|mkv)$/i, ["media"]],
];

/** The types that a file of this name may have; `undefined` if the name promises none. */
export function promisedKinds(path: string): readonly BinaryKind[] | undefined {
  return PROMISES.find(([pattern]) => pattern.test(path))?.[1];
}

/** By a file's extension, a script's first line, or the word after a code fence. */
const LANGUAGES: readonly (readonly [CodeLanguage, ending: RegExp, shebang: RegExp, tag: RegExp])[] = [
  [
    "shell",
    /^\.(?:sh|bash|zsh|ksh|command|bat|cmd)$/,
    /^#!.*\b(?:ba|z|da|k|a)?sh\b/,
    /^(?:sh|bash|shell|zsh|console|shell-session|shellsession|terminal|bat|cmd|ksh)$/,
  ],
  ["python", /^\.(?:py|pyw|pyi)$/, /^#!.*\bpython/, /^(?:python3?|py|ipython)$/],
  [
    "javascript",
    /^\.(?:js|mjs|cjs|jsx|ts|mts|cts|tsx)$/,
    /^#!.*\b(?:node|deno|bun|tsx)\b/,
    /^(?:js|javascript|mjs|cjs|ts|typescript|jsx|tsx|node)$/,
  ],
  ["powershell", /^\.(?:ps1|psm1)$/, /^#!.*\bpwsh\b/, /^(?:powershell|ps1|pwsh|ps)$/],
  ["ruby", /^\.rb$/, /^#!.*\bruby\b/, /^(?:ruby|rb)$/],
  ["perl", /^\.(?:pl|pm)$/, /^#!.*\bperl\b/, /^perl$/],
  ["php", /^\.php$/, /^#!.*\bphp\b/, /^php$/],
  ["lua", /^\.lua$/, /^#!.*\blua\b/, /^lua$/],
];

/** A script's language; the first line counts more than the extension, since the system reads that. */
export function languageOf(path: string, text: string): CodeLanguage | undefined {
  const [first = ""] = text.slice(0, 200).split("\n", 1);
  const end = extname(path).toLowerCase();
  const told = first.startsWith("#!") ? LANGUAGES.find(([, , shebang]) => shebang.test(first)) : undefined;
  return (told ?? LANGUAGES.find(([, ending]) => ending.test(end)))?.[0];
}

/** By the word after a code fence. */
export function languageOfTag(tag: string): CodeLanguage | undefined {
  return LANGUAGES.find(([, , , word]) => word.test(tag))?.[0];
}

export function isMarkdown(path: string): boolean {
  return /\.(?:md|markdown|mdx|mdc)$/i.test(path);
}
