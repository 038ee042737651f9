/** Archives and single skill files, by URL or path. What they are is written down as the digest of their bytes. */
import { fileURLToPath } from "node:url";
import { showPath } from "../../host/contained-path.ts";
import { digestBytes } from "../../trust/identify-file.ts";
import { type DownloadOutcome, download } from "../download.ts";
import type { FetchContext, FetchOutcome } from "../fetch-source.ts";
import { readLocalFile } from "../local/read-local-file.ts";
import { describeRefusal } from "../refused-tree.ts";
import type { DownloadAddress } from "../source-address.ts";
import { nameByAddress, writeSingleFile } from "./single-file.ts";
import { unpackArchive } from "./unpack-archive.ts";

export async function fetchDownload(address: DownloadAddress, context: FetchContext): Promise<FetchOutcome> {
  const { kind, url, path, canonical } = address;
  const { into } = context;
  const got = await getBytes(address, context);
  if (!got.ok) return got;
  const { bytes } = got;
  try {
    const { folder, diagnostics: remarks } =
      kind === "archive"
        ? await unpackArchive(bytes, into, context)
        : await writeSingleFile(bytes, into, nameByAddress(decodeURIComponent(new URL(url).pathname)));
    const paths = path === "" ? {} : { paths: [path] };
    const diagnostics = [...got.diagnostics, ...remarks];
    return { ok: true, source: { folder, resolved: digestBytes(bytes), canonical, ...paths, diagnostics } };
  } catch (fault) {
    return describeRefusal(fault, showPath(canonical));
  }
}

async function getBytes({ kind, url }: DownloadAddress, context: FetchContext): Promise<DownloadOutcome> {
  const { bytes, fileBytes } = context.limits;
  const maxBytes = kind === "archive" ? bytes : fileBytes;
  if (!url.startsWith("file:")) return download({ url, maxBytes }, context);
  const read = readLocalFile(fileURLToPath(url), maxBytes);
  return read.ok ? { ...read, diagnostics: [] } : read;
}
