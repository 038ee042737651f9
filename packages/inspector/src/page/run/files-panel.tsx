/** The files a run left: sizes, previews of text files, and downloads. */
import type { ApiList } from "@metier/service/api";
import { useEffect, useState } from "preact/hooks";
import { LinkButton } from "../design/button.tsx";
import { Answered, Empty } from "../design/notice.tsx";
import { Code, showUnseen } from "../design/text.tsx";
import { address, linkTo } from "../state/address.ts";
import { isExport, useAnswer } from "../state/answers.ts";
import { countOf, formatBytes } from "../state/format.ts";

interface RunFile {
  readonly path: string;
  readonly size: number;
}

const MOST_PREVIEW = 256 * 1024;

function filesPath(runId: string): string {
  return `/v1/runs/${encodeURIComponent(runId)}/files`;
}

function filePath(runId: string, path: string): string {
  return `${filesPath(runId)}/${path.split("/").map(encodeURIComponent).join("/")}`;
}

export function FilesPanel({ runId }: { readonly runId: string }) {
  const path = filesPath(runId);
  const known = useAnswer<ApiList<RunFile>>(path);
  return (
    <Answered known={known} path={path}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="This run left no files.">
            <p>Files that its tools write to the work folder appear here.</p>
          </Empty>
        ) : (
          <FileList runId={runId} files={data} />
        )
      }
    </Answered>
  );
}

const MOST_SHOWN = 500;

function FileList({ runId, files }: { readonly runId: string; readonly files: readonly RunFile[] }) {
  const { query, path } = address.value;
  const wanted = files.find((file) => file.path === query.get("file"));
  const left = files.length - MOST_SHOWN;
  return (
    <div class="columns">
      <div class="scrolls file-list" role="region" aria-label="Files" tabIndex={0}>
        <table class="plain-table">
          <caption class="hidden">Files of this run</caption>
          <thead>
            <tr>
              <th scope="col">File</th>
              <th scope="col" class="number">
                Size
              </th>
            </tr>
          </thead>
          <tbody>
            {files.slice(0, MOST_SHOWN).map((file) => (
              <tr key={file.path}>
                <td>
                  <a
                    href={linkTo(path, { ...Object.fromEntries(query), file: file.path })}
                    aria-current={file === wanted ? "true" : undefined}
                  >
                    {showUnseen(file.path)}
                  </a>
                </td>
                <td class="number">{formatBytes(file.size)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {left > 0 && <p class="small soft">{countOf(left, "more file")} are not listed.</p>}
      </div>
      {wanted ? (
        <FilePreview key={wanted.path} runId={runId} file={wanted} />
      ) : (
        <p class="soft">Choose a file to preview it.</p>
      )}
    </div>
  );
}

function FilePreview({ runId, file }: { readonly runId: string; readonly file: RunFile }) {
  const url = filePath(runId, file.path);
  const [preview, setPreview] = useState<Preview | undefined>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    readBeginning(url, stop.signal).then(setPreview, () =>
      setPreview({ fault: "The file could not be read." }),
    );
    return () => stop.abort();
  }, [url]);
  return (
    <div class="stack">
      <div class="row">
        <strong>{showUnseen(file.path)}</strong>
        <span class="soft">{formatBytes(file.size)}</span>
        {!isExport && (
          <LinkButton href={url} download={file.path.split("/").at(-1) ?? "file"}>
            Download
          </LinkButton>
        )}
      </div>
      {preview === undefined && <p class="soft">Loading…</p>}
      {preview?.fault !== undefined && <p class="soft">{preview.fault}</p>}
      {preview?.text !== undefined && <Code text={preview.text} label={`Contents of ${file.path}`} />}
      {preview?.isCut && <p class="small soft">First {formatBytes(MOST_PREVIEW)} shown.</p>}
    </div>
  );
}

interface Preview {
  readonly text?: string;
  readonly isCut?: boolean;
  readonly fault?: string;
}

async function readBeginning(url: string, signal: AbortSignal): Promise<Preview> {
  if (isExport) return { fault: "An export doesn't contain file contents." };
  const response = await fetch(url, { signal, credentials: "same-origin" });
  if (!response.ok || !response.body) return { fault: `The server answered with ${response.status}.` };
  const reader = response.body.getReader();
  const bytes = new Uint8Array(MOST_PREVIEW);
  let length = 0;
  let isCut = false;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const room = MOST_PREVIEW - length;
    bytes.set(value.subarray(0, room), length);
    length += Math.min(room, value.length);
    if (value.length > room) {
      isCut = true;
      await reader.cancel();
      break;
    }
  }
  return decodeText(bytes.subarray(0, length), isCut);
}

/** Cut text may end in the middle of a character. */
function decodeText(bytes: Uint8Array, isCut: boolean): Preview {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut });
    return text.includes("\u0000") ? { fault: "This is not a text file." } : { text, isCut };
  } catch {
    return { fault: "This is not a text file." };
  }
}
