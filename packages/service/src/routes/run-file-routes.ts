/**
 * The files a run left in its work folder. A run's files are untrusted: paths go through base's path gate, and a file
 * is sent as an attachment that no browser shows, sniffs or runs.
 */
import { closeSync, createReadStream, realpathSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { listFiles, openContained } from "@metier/base/files";
import { done, type Result } from "@metier/base/result";
import { listOf, NUMBER_FIELD, objectOf, TEXT_FIELD } from "../http/query-shapes.ts";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import type { Identity } from "../keys/identity.ts";
import type { ServiceContext } from "../service-context.ts";
import { findRun } from "./find-run.ts";

const MOST_ENTRIES = 10_000;
const GROUP = "runs";

/** The real path of the work folder; `undefined`: the run has none yet, or it is not on this machine. */
async function findFolder(
  context: ServiceContext,
  identity: Identity,
  id: string,
): Promise<Result<string | undefined, HttpRefusal>> {
  const run = await findRun(context, identity, id);
  if (!run.ok) return run;
  const folder = await context.workFolder(run.value.id);
  const isThere = folder !== undefined && statSync(folder, { throwIfNoEntry: false })?.isDirectory();
  return done(isThere ? realpathSync.native(folder) : undefined);
}

const listRunFiles = defineRoute({
  method: "GET",
  path: "/v1/runs/{id}/files",
  scope: "read",
  group: GROUP,
  summary: "List the files in a run's work folder.",
  answers: {
    200: { about: "Paths and sizes.", schema: listOf(objectOf({ path: TEXT_FIELD, size: NUMBER_FIELD })) },
  },
  async handle({ identity, param }, context) {
    const folder = await findFolder(context, identity, param("id"));
    if (!folder.ok) return folder;
    const { value } = folder;
    if (value === undefined) return replyWith({ data: [] });
    const listing = listFiles(value, MOST_ENTRIES);
    if (!listing.ok) {
      return refuse(
        409,
        "files_unlisted",
        "The work folder cannot be listed: it has too many files, or file names that are not UTF-8.",
        "Request a file by its path.",
      );
    }
    const files = listing.files.filter(({ kind }) => kind === "file");
    const data = files.map(({ path }) => {
      return { path, size: statSync(join(value, path), { throwIfNoEntry: false })?.size ?? 0 };
    });
    return replyWith({ data });
  },
});

const readRunFile = defineRoute({
  method: "GET",
  path: "/v1/runs/{id}/files/{path*}",
  scope: "files",
  group: GROUP,
  summary: "Download a file from a run's work folder.",
  answers: { 200: { about: "The bytes, as an attachment.", type: "application/octet-stream" } },
  async handle({ identity, param }, context) {
    const folder = await findFolder(context, identity, param("id"));
    if (!folder.ok) return folder;
    const missing = refuse(
      404,
      "file_not_found",
      "The run has no such file.",
      "`GET /v1/runs/{id}/files` lists its files.",
    );
    if (folder.value === undefined) return missing;
    const opened = openContained(folder.value, param("path"));
    if (!opened.ok) return missing;
    const { descriptor, stats } = opened.file;
    if (stats.size === 0n) {
      closeSync(descriptor);
      return done(new Response(new Uint8Array(), { headers: attachment(param("path"), 0n) }));
    }
    const file = createReadStream("", { fd: descriptor, end: Number(stats.size) - 1 });
    const body = Readable.toWeb(file) as ReadableStream<Uint8Array>;
    return done(new Response(body, { headers: attachment(param("path"), stats.size) }));
  },
});

function attachment(path: string, size: bigint): Record<string, string> {
  const name = basename(path);
  const plain = name.replace(/[^\w. -]/g, "_");
  return {
    "Content-Type": "application/octet-stream",
    "Content-Length": String(size),
    "Content-Disposition": `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name.toWellFormed())}`,
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
  };
}

export const RUN_FILE_ROUTES: readonly ServiceRoute[] = [listRunFiles, readRunFile];
