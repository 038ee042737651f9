/**
 * Downloads for an installation, through the egress gate; and sources that are a single download: archives and skill
 * files. The user typed the address, so its host is granted, even on this machine. Redirects, and addresses named by
 * the server, may only point to public hosts over `https:`; redirects are reported.
 */
import { isUtf8 } from "node:buffer";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Diagnostic } from "@metier/base/diagnostic";
import { digestBytes } from "@metier/base/digest";
import { folderName, showPath } from "@metier/base/files";
import { isLoopbackAddress, isLoopbackHost } from "@metier/base/net";
import { done, type Refused, type Result } from "@metier/base/result";
import {
  type AddressBook,
  checkDestination,
  type EgressRefusal,
  type FetchedAnswer,
  guardedFetch,
} from "@metier/sandbox/egress";
import { isSkillFileName, parseSkill, SKILL_FILE, validateSkill } from "@metier/skills";
import type { DownloadAddress } from "./addresses/source-address.ts";
import { type UnpackedTree, unpackArchive } from "./archives/unpack-archive.ts";
import { addressBook, type FetchContext, privateHostHint, type SourceFetch } from "./fetch-source.ts";
import {
  cancelledFault,
  damaged,
  describeRefusal,
  faulty,
  type InstallFault,
  type InstallFaultCode,
} from "./install-fault.ts";
import { readLocalFile } from "./local/fetch-folder.ts";

interface DownloadRequest {
  readonly url: string;
  /** What the user typed or configured, if `url` comes from what was found there. */
  readonly typed?: string;
  readonly maxBytes: number;
  /** For a text that a server may compress; anything else comes byte for byte. */
  readonly packed?: boolean;
}

interface Download {
  readonly bytes: Buffer;
  readonly diagnostics: readonly Diagnostic[];
}

export async function download(
  request: DownloadRequest,
  context: FetchContext,
): Promise<Result<Download, InstallFault>> {
  const { url, typed = url, maxBytes, packed = false } = request;
  const { limits, signal, onProgress } = context;
  const way = chooseWay(new URL(url), new URL(typed), addressBook(new URL(typed), context));
  const what = `Downloading ${new URL(url).host}`;
  onProgress?.({ what });
  const answer = await guardedFetch(
    way.url,
    {
      network: way.network,
      secure: true,
      raw: !packed,
      maxBytes,
      timeoutMs: limits.totalMs,
      idleMs: limits.idleMs,
      ...(signal && { signal }),
      onBytes: (got, total) => onProgress?.({ what, done: got, total: packed ? undefined : total }),
    },
    way.addresses,
  );
  if (!answer.ok) return (await refusePrivate(way)) ?? describeEgress(answer.refusal);
  return describeStatus(answer.value, url) ?? takeAnswer(answer.value, request);
}

/** For the address itself: a redirect's host is refused whatever the config says. */
async function refusePrivate({ url, network, addresses }: Way): Promise<Refused<InstallFault> | undefined> {
  const checked = await checkDestination(url, network, addresses);
  if (checked.ok || !PRIVATE_REASONS.includes(checked.refusal.reason)) return undefined;
  return faulty("source.refused", checked.refusal.message, privateHostHint(new URL(url)));
}

const PRIVATE_REASONS: readonly EgressRefusal["reason"][] = ["private-address", "local-name"];

interface Way {
  readonly url: string;
  readonly network: readonly string[];
  readonly addresses: AddressBook;
}

/** A server on this machine is reached only if the user named it, and it cannot redirect. */
function chooseWay(url: URL, typed: URL, addresses: AddressBook): Way {
  if (!isLoopbackHost(url.hostname) || url.origin !== typed.origin) {
    // Redirects use the default port, or the typed one.
    const samePort = url.port === "" ? [] : [`*:${url.port}`];
    return { url: url.href, network: [url.host, "*", ...samePort], addresses };
  }
  const direct = new URL(url);
  if (direct.hostname === "localhost") direct.hostname = "127.0.0.1";
  return { url: direct.href, network: [direct.host], addresses: THIS_MACHINE };
}

const THIS_MACHINE: AddressBook = { resolve: async () => [], isPublic: isLoopbackAddress };

const EGRESS_CODES: Readonly<Partial<Record<EgressRefusal["reason"], InstallFaultCode>>> = {
  unresolved: "source.unreachable",
  unreachable: "source.unreachable",
  timeout: "source.unreachable",
  "too-large": "source.limited",
  redirects: "source.failed",
  "media-type": "source.failed",
};
const LIMITED = "Install from its repository, or from a smaller package.";
const HINTS: Readonly<Partial<Record<InstallFaultCode, string>>> = {
  "source.unreachable": "Check the address and the network, then try again.",
  "source.limited": LIMITED,
  "source.failed": "Try again later, or tell the operator of the server.",
};

function describeEgress({ reason, message }: EgressRefusal): Refused<InstallFault> {
  if (reason === "cancelled") return cancelledFault();
  const code = EGRESS_CODES[reason] ?? "source.refused";
  return faulty(code, message, HINTS[code] ?? "Use a public `https:` address as the source.");
}

function describeStatus({ status }: FetchedAnswer, url: string): Refused<InstallFault> | undefined {
  if (status === 200) return undefined;
  const answered = `${showPath(url)} answered with status ${status}`;
  if (status === 404 || status === 410) {
    return faulty("source.not_found", `${answered}: not found.`, "Check the address.");
  }
  if (status === 401 || status === 403) {
    const hint = "Download it yourself and install the file, or install from its git repository.";
    return faulty(
      "source.unauthorized",
      `${answered}: it requires a sign-in, but Metier never sends one.`,
      hint,
    );
  }
  const code = status >= 500 || status === 429 ? "source.unreachable" : "source.failed";
  return faulty(code, `${answered}.`, "Try again later, or tell the operator of the server.");
}

function takeAnswer(
  { bytes, isCut, url: from }: FetchedAnswer,
  { url, maxBytes }: DownloadRequest,
): Result<Download, InstallFault> {
  if (isCut) return faulty("source.limited", `${showPath(url)} has more than ${maxBytes} bytes.`, LIMITED);
  const { host } = new URL(from);
  const asked = new URL(url);
  if (host === asked.host || isLoopbackHost(asked.hostname)) return done({ bytes, diagnostics: [] });
  const message = `${showPath(url)} was downloaded from \`${host}\`, to which it redirects.`;
  return done({ bytes, diagnostics: [{ code: "source.redirected", severity: "info", path: url, message }] });
}

/** An archive or skill file, by URL or path. Recorded as the digest of its bytes. */
export async function fetchDownload(address: DownloadAddress, context: FetchContext): Promise<SourceFetch> {
  const { kind, url, path, canonical } = address;
  const { into } = context;
  const got = await getBytes(address, context);
  if (!got.ok) return got;
  const { bytes } = got.value;
  try {
    const { folder, diagnostics: remarks } =
      kind === "archive"
        ? await unpackArchive(bytes, into, context)
        : await writeSingleFile(bytes, into, nameByAddress(decodeURIComponent(new URL(url).pathname)));
    const paths = path === "" ? undefined : [path];
    const diagnostics = [...got.value.diagnostics, ...remarks];
    return done({ folder, resolved: digestBytes(bytes), canonical, paths, diagnostics });
  } catch (fault) {
    return describeRefusal(fault, showPath(canonical));
  }
}

async function getBytes(
  { kind, url }: DownloadAddress,
  context: FetchContext,
): Promise<Result<Download, InstallFault>> {
  const { bytes, fileBytes } = context.limits;
  const maxBytes = kind === "archive" ? bytes : fileBytes;
  if (!url.startsWith("file:")) return download({ url, maxBytes }, context);
  const read = readLocalFile(fileURLToPath(url), maxBytes);
  return read.ok ? done({ bytes: read.value, diagnostics: [] }) : read;
}

const WEB_PAGE = /^\s*<(?:!doctype html|html)/i;

/**
 * A lone skill file becomes a skill folder with nothing else: in `into`, named as the skill names itself, otherwise
 * `defaultName`. Throws `RefusedTree`.
 */
async function writeSingleFile(bytes: Buffer, into: string, defaultName: string): Promise<UnpackedTree> {
  if (!isUtf8(bytes) || bytes.includes(0)) throw damaged("It is not UTF-8 text.");
  const text = bytes.toString();
  if (WEB_PAGE.test(text)) {
    throw damaged("It is a web page; the file itself has a different URL, often with `raw` in it.");
  }
  const candidate = { form: "directory", file: SKILL_FILE, directory: into, defaultName } as const;
  const { manifest } = validateSkill(await parseSkill(candidate, text), "standard");
  const folder = join(into, folderName(manifest?.name ?? defaultName));
  mkdirSync(folder);
  writeFileSync(join(folder, SKILL_FILE), bytes, { flag: "wx", mode: 0o644 });
  return { folder, diagnostics: [] };
}

/** `…/pdf/SKILL.md` is `pdf`, and so is `…/pdf.md`. */
function nameByAddress(pathname: string): string {
  const segments = pathname.split("/").filter(Boolean);
  const file = segments.at(-1) ?? "skill";
  return (isSkillFileName(file) ? segments.at(-2) : file.replace(/\.md$/i, "")) ?? "skill";
}
