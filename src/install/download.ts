/**
 * One download for an installation, through the egress gate. The user typed an address, so its host is granted, even on
 * this machine. Redirects, and addresses that the server names, may lead to any public host over `https:`, and to
 * nothing else; that they did is said.
 */
import type { EgressFault } from "../egress/egress-fault.ts";
import { type FetchedAnswer, guardedFetch } from "../egress/guarded-fetch.ts";
import { type AddressBook, SYSTEM_ADDRESSES } from "../egress/resolve-public.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { showPath } from "../host/contained-path.ts";
import { isLoopbackHost } from "./addresses/loopback-host.ts";
import type { FetchContext } from "./fetch-source.ts";
import { cancelledFault, type FaultOutcome, faulty, type InstallFaultCode } from "./install-fault.ts";

export interface DownloadRequest {
  readonly url: string;
  /** What the user typed or configured, when `url` comes from what was found there. */
  readonly typed?: string;
  readonly maxBytes: number;
  /** For a text that a server may send packed; anything else comes byte for byte. */
  readonly packed?: boolean;
}

export type DownloadOutcome =
  | { readonly ok: true; readonly bytes: Buffer; readonly diagnostics: readonly Diagnostic[] }
  | FaultOutcome;

export async function download(request: DownloadRequest, context: FetchContext): Promise<DownloadOutcome> {
  const { url, typed = url, maxBytes, packed = false } = request;
  const { limits, signal, onProgress } = context;
  const way = chooseWay(new URL(url), new URL(typed), context.addresses);
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
      onBytes: (done, total) =>
        onProgress?.({ what, done, ...(total !== undefined && !packed && { total }) }),
    },
    way.addresses,
  );
  if (!answer.ok) return describeEgress(answer);
  return describeStatus(answer, url) ?? takeAnswer(answer, request);
}

interface Way {
  readonly url: string;
  readonly network: readonly string[];
  readonly addresses: AddressBook;
}

/** A server of this machine is reached only where the user named it, and it leads nowhere else. */
function chooseWay(url: URL, typed: URL, addresses: AddressBook = SYSTEM_ADDRESSES): Way {
  if (!isLoopbackHost(url.hostname) || url.origin !== typed.origin) {
    // Redirects keep to the usual port, or to the one that was typed.
    const samePort = url.port === "" ? [] : [`*:${url.port}`];
    return { url: url.href, network: [url.host, "*", ...samePort], addresses };
  }
  const direct = new URL(url);
  if (direct.hostname === "localhost") direct.hostname = "127.0.0.1";
  return { url: direct.href, network: [direct.host], addresses: THIS_MACHINE };
}

const THIS_MACHINE: AddressBook = {
  resolve: async () => [],
  isPublic: (address) => address === "::1" || address.startsWith("127."),
};

const EGRESS_CODES: Readonly<Partial<Record<EgressFault["reason"], InstallFaultCode>>> = {
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
  "source.failed": "Try again later, or tell whoever runs the server.",
};

function describeEgress({ reason, message }: EgressFault): FaultOutcome {
  if (reason === "cancelled") return cancelledFault();
  const code = EGRESS_CODES[reason] ?? "source.refused";
  return faulty(code, message, HINTS[code] ?? "Sources are public `https:` addresses; use one of these.");
}

function describeStatus({ status }: FetchedAnswer, url: string): FaultOutcome | undefined {
  if (status === 200) return undefined;
  const answered = `${showPath(url)} answered with status ${status}`;
  if (status === 404 || status === 410) {
    return faulty("source.not_found", `${answered}: there is nothing.`, "Check the address.");
  }
  if (status === 401 || status === 403) {
    const hint = "Download it yourself and install the file, or install from its git repository.";
    return faulty("source.unauthorized", `${answered}: it wants a sign-in, and none is ever sent.`, hint);
  }
  const code = status >= 500 || status === 429 ? "source.unreachable" : "source.failed";
  return faulty(code, `${answered}.`, "Try again later, or tell whoever runs the server.");
}

function takeAnswer(
  { bytes, isCut, url: from }: FetchedAnswer,
  { url, maxBytes }: DownloadRequest,
): DownloadOutcome {
  if (isCut) {
    return faulty("source.limited", `${showPath(url)} has more than ${maxBytes} bytes.`, LIMITED);
  }
  const { host } = new URL(from);
  const asked = new URL(url);
  if (host === asked.host || isLoopbackHost(asked.hostname)) return { ok: true, bytes, diagnostics: [] };
  const message = `${showPath(url)} was downloaded from \`${host}\`, to which it redirects.`;
  return {
    ok: true,
    bytes,
    diagnostics: [{ code: "source.redirected", severity: "info", path: url, message }],
  };
}
