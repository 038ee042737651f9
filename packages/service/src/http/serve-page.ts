/**
 * The inspector's page: one HTML file and the files under `/assets`, whoever built them. It contains nothing about
 * anyone, so everyone who can reach the server gets it; its data comes from the API, which checks who asks. The policy
 * allows only the page's own code and styles, whatever text from a skill or model is on it.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { ExportedRun } from "../runs/export-run.ts";

interface ServedPageFile {
  readonly body: Uint8Array | string;
  /** Its media type. */
  readonly type: string;
  /** `immutable`: its name changes with its content. */
  readonly cache: "revalidate" | "immutable";
}

export interface ServedPage {
  /** `index.html`, or a name below `assets/`, as in `assets/page.js`. `undefined`: there is none. */
  find(path: string): ServedPageFile | undefined;
  /** A view as one file with its responses. Absent: nothing can be exported as a page. */
  exportView?(view: ExportedRun): string;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const HEADERS = {
  "Content-Security-Policy": POLICY,
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
} as const;

const CACHE_CONTROL = { revalidate: "no-cache", immutable: "public, max-age=31536000, immutable" } as const;

/** Types that compression makes smaller. */
const PACKED_TYPE = /^(?:text\/|application\/(?:javascript|json)|image\/svg)/;
const LEAST_PACKED_BYTES = 1_024;

type Encoding = "br" | "gzip";

interface ReadyFile {
  /** Which page these responses belong to: a rebuilt page has other files. */
  readonly of: ServedPageFile["body"];
  readonly tag: string;
  readonly plain: Uint8Array<ArrayBuffer>;
  /** Absent: compression doesn't help. */
  readonly packed?: Readonly<Record<Encoding, Uint8Array<ArrayBuffer>>>;
}

interface PageServer {
  /** `undefined`: the page has no such file. */
  answer(path: string, headers: Headers): Promise<Response | undefined>;
}

/** Each file is compressed once, on first request. */
export function openPageServer(page: ServedPage): PageServer {
  const ready = new Map<string, ReadyFile>();
  return {
    async answer(path, headers) {
      const file = page.find(path);
      if (file === undefined) return undefined;
      const known = ready.get(path);
      const current = known?.of === file.body ? known : await prepare(file);
      ready.set(path, current);
      return answerWith(file, current, headers);
    },
  };
}

async function prepare({ body, type }: ServedPageFile): Promise<ReadyFile> {
  const plain = Uint8Array.from(typeof body === "string" ? Buffer.from(body) : body);
  const tag = createHash("sha256").update(plain).digest("base64url");
  if (!PACKED_TYPE.test(type) || plain.length < LEAST_PACKED_BYTES) return { of: body, tag, plain };
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(plain, quality),
    promisify(gzip)(plain, { level: 9 }),
  ]);
  return { of: body, tag, plain, packed: { br: Uint8Array.from(br), gzip: Uint8Array.from(zipped) } };
}

function answerWith(
  { type, cache }: ServedPageFile,
  { tag: digest, plain, packed }: ReadyFile,
  asked: Headers,
): Response {
  const encoding = packed && chooseEncoding(asked.get("accept-encoding"));
  const tag = `"${digest}${encoding === undefined ? "" : `-${encoding}`}"`;
  const headers = {
    ...HEADERS,
    "Content-Type": type,
    "Cache-Control": CACHE_CONTROL[cache],
    ETag: tag,
    Vary: "Accept-Encoding",
  };
  const known = (asked.get("if-none-match") ?? "").split(",").map((text) => text.trim().replace(/^W\//, ""));
  if (known.includes(tag)) return new Response(null, { status: 304, headers });
  const body = (encoding && packed?.[encoding]) ?? plain;
  return new Response(body, {
    headers: {
      ...headers,
      ...(encoding !== undefined && { "Content-Encoding": encoding }),
      "Content-Length": String(body.length),
    },
  });
}

function chooseEncoding(accepted: string | null): Encoding | undefined {
  const allowed = (accepted ?? "")
    .toLowerCase()
    .split(",")
    .filter((part) => !/;\s*q=0(?:\.0*)?\s*$/.test(part))
    .map((part) => part.split(";")[0]?.trim());
  return (["br", "gzip"] as const).find((encoding) => allowed.includes(encoding));
}
