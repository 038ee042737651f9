/** Skills as other protocols have them: uploads only, since those have versions and times. */
import type { JsonObject } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { showNames } from "@metier/base/text";
import { type HttpRefusal, refuseMissing, refuseRequest } from "../http/refusal.ts";
import type { ServiceContext } from "../service-context.ts";
import { askRoute, type InnerRequest } from "./ask-route.ts";
import { listIn, textIn } from "./foreign-shapes.ts";

const MOST_FILES = 2_000;
const ARCHIVE = /\.(zip|tgz|tar\.gz|skill)$/i;

/** A skill with its versions, newest first: as the API shows them. */
export interface UploadedSkillView {
  readonly name: string;
  readonly description: string;
  /** The content that new runs get. */
  readonly current: string;
  readonly versions: readonly JsonObject[];
}

/** The files of a form as one archive: a zip or tar.gz as it is, or a folder file by file. The shelf judges what is in it. */
async function packForm(form: FormData): Promise<Result<Buffer, HttpRefusal>> {
  const isFiles = (field: string): boolean => /^files(\[\d*\])?$/.test(field);
  const other = [...form.keys()].find((field) => !isFiles(field));
  if (other !== undefined)
    return refuseRequest(`Metier can't honor the field \`${other}\`.`, "Send only `files`.");
  const files = [...form].flatMap(([, value]) => (typeof value === "string" ? [] : [value]));
  const [first] = files;
  if (first === undefined || files.length > MOST_FILES) {
    const message = `The form has ${files.length} files in the field \`files\`.`;
    return refuseRequest(message, `Send 1 to ${MOST_FILES} files: one folder, or one zip or tar.gz.`);
  }
  if (files.length === 1 && ARCHIVE.test(first.name)) return done(Buffer.from(await first.arrayBuffer()));
  const folders = new Set(files.map(({ name }) => name.slice(0, name.indexOf("/") + 1)));
  if (folders.size > 1 && !files.some(({ name }) => name === "SKILL.md")) {
    const message = `The files are in ${folders.size} folders: ${showNames([...folders])}.`;
    return refuseRequest(message, "Send one folder with a `SKILL.md`.");
  }
  const entries = await Promise.all(
    files.map(async (file) => {
      const bytes = new Uint8Array(await file.arrayBuffer());
      return { kind: "file", path: file.name, executable: false, bytes } as const;
    }),
  );
  const { writeGzip, writeTar } = await import("@metier/install/publish");
  return done(await writeGzip(writeTar(entries)));
}

/** `named`: a version of this skill, and of no other. Gives the version as the API shows it. */
export async function uploadForm(
  asking: InnerRequest,
  context: ServiceContext,
  form: FormData,
  named?: string,
): Promise<Result<JsonObject, HttpRefusal>> {
  const body = await packForm(form);
  if (!body.ok) return body;
  return askRoute("POST /v1/skills", asking, context, { body: body.value, query: { name: named } });
}

export async function findUploaded(
  asking: InnerRequest,
  context: ServiceContext,
  name: string,
): Promise<Result<UploadedSkillView, HttpRefusal>> {
  const all = await listUploads(asking, context);
  if (!all.ok) return all;
  const found = all.value.find((upload) => upload.name === name);
  return found ? withVersions(asking, context, found) : refuseMissing("uploaded skill", name, "/v1/skills");
}

/** In the order of their names. */
export async function listUploaded(
  asking: InnerRequest,
  context: ServiceContext,
): Promise<Result<readonly UploadedSkillView[], HttpRefusal>> {
  const all = await listUploads(asking, context);
  if (!all.ok) return all;
  const views: UploadedSkillView[] = [];
  for (const upload of all.value) {
    const view = await withVersions(asking, context, upload);
    if (!view.ok) return view;
    views.push(view.value);
  }
  return done(views);
}

async function listUploads(
  asking: InnerRequest,
  context: ServiceContext,
): Promise<Result<readonly JsonObject[], HttpRefusal>> {
  const listed = await askRoute("GET /v1/skills", asking, context);
  return listed.ok ? done(listIn(listed.value.data).filter(({ source }) => source === "upload")) : listed;
}

async function withVersions(
  asking: InnerRequest,
  context: ServiceContext,
  { name, description, current }: JsonObject,
): Promise<Result<UploadedSkillView, HttpRefusal>> {
  const params = { name: textIn(name) };
  const found = await askRoute("GET /v1/skills/{name}/versions", asking, context, { params });
  if (!found.ok) return found;
  const versions = listIn(found.value.data);
  return done({ ...params, description: textIn(description), current: textIn(current), versions });
}

/** All versions of a skill, one after the other. */
export async function removeUploaded(
  asking: InnerRequest,
  context: ServiceContext,
  { name, versions }: UploadedSkillView,
): Promise<Result<undefined, HttpRefusal>> {
  for (const { digest } of versions) {
    const removed = await removeVersion(asking, context, name, textIn(digest));
    if (!removed.ok) return removed;
  }
  return done(undefined);
}

export async function removeVersion(
  asking: InnerRequest,
  context: ServiceContext,
  name: string,
  digest: string,
): Promise<Result<JsonObject, HttpRefusal>> {
  const params = { name, digest };
  return askRoute("DELETE /v1/skills/{name}/versions/{digest}", asking, context, { params });
}
