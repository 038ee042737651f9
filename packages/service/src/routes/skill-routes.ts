/** Skills: the runnable ones, uploads and their versions, and the decision to trust one. */

import { isDigest } from "@metier/base/digest";
import type { JsonObject } from "@metier/base/json";
import type { Refused } from "@metier/base/result";
import { tableShape } from "@metier/base/shape";
import { boundedText, listOf, NUMBER_FIELD, objectOf, TEXT_FIELD, TIME_FIELD } from "../http/query-shapes.ts";
import { type HttpRefusal, refuse, refuseMissing } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import { checkRoom } from "../quotas/storage-quota.ts";
import type { ServedVersion } from "../shelf/skill-shelf.ts";

const GROUP = "skills";
const trustSchema = { enum: ["trusted", "untrusted"] };
const skillSchema = objectOf(
  {
    name: TEXT_FIELD,
    description: TEXT_FIELD,
    source: { enum: ["server", "upload"] },
    trust: trustSchema,
    current: TEXT_FIELD,
  },
  ["name", "description", "source", "trust"],
);
const versionSchema = objectOf({
  digest: TEXT_FIELD,
  trust: trustSchema,
  uploadedAt: TIME_FIELD,
  files: NUMBER_FIELD,
  bytes: NUMBER_FIELD,
});

function showVersion({ uploadedAt, ...version }: ServedVersion): JsonObject {
  const { digest, trust, uploadedBy, grantedBy, files, bytes } = version;
  return {
    digest,
    trust,
    uploadedAt: new Date(uploadedAt).toISOString(),
    uploadedBy,
    ...(grantedBy !== undefined && { grantedBy }),
    files,
    bytes,
  };
}

function refuseVersion(name: string): Refused<HttpRefusal> {
  const hint = `\`GET /v1/skills/${name}/versions\` lists the uploaded versions.`;
  return refuse(404, "not_found", `\`${name}\` has no such uploaded version.`, hint);
}

const listSkills = defineRoute({
  method: "GET",
  path: "/v1/skills",
  scope: "read",
  group: GROUP,
  summary: "List the skills you can run.",
  answers: { 200: { about: "All skills.", schema: listOf(skillSchema) } },
  handle: async ({ identity }, { shelf }) => replyWith({ data: await shelf.list(identity.tenant) }),
});

interface UploadQuery {
  readonly name?: string;
}

const uploadSkill = defineRoute<UploadQuery, Buffer>({
  method: "POST",
  path: "/v1/skills",
  scope: "write",
  group: GROUP,
  summary:
    "Upload a skill as a zip or tar.gz. A version is untrusted until it is granted. With `name`, only a skill of that name is accepted.",
  query: tableShape<UploadQuery>({ name: boundedText(256, 1) }),
  takes: "archive",
  answers: {
    201: {
      about: "The version; uploading the same content again returns the same version.",
      schema: versionSchema,
    },
  },
  async handle({ query, body, identity: { tenant, keyId } }, { shelf, notices, records, storedBytes }) {
    const room = await checkRoom(records, tenant, body.length, () => storedBytes(tenant));
    if (!room.ok) return room;
    const uploaded = await shelf.upload(tenant, body, keyId, query.name);
    if (!uploaded.ok) return uploaded;
    const { name, version, remarks } = uploaded.value;
    notices.tell({ kind: "catalog", tenant });
    return replyWith({ name, ...showVersion(version), remarks: [...remarks] }, 201);
  },
});

const listSkillVersions = defineRoute({
  method: "GET",
  path: "/v1/skills/{name}/versions",
  scope: "read",
  group: GROUP,
  summary: "List a skill's uploaded versions, newest first.",
  answers: { 200: { about: "All versions.", schema: listOf(versionSchema) } },
  async handle({ identity: { tenant }, param }, { shelf }) {
    const versions = await shelf.versions(tenant, param("name"));
    if (versions.length === 0 && !(await shelf.list(tenant)).some(({ name }) => name === param("name"))) {
      return refuseMissing("skill", param("name"), "/v1/skills");
    }
    return replyWith({ data: versions.map(showVersion) });
  },
});

const grantVersion = defineRoute({
  method: "POST",
  path: "/v1/skills/{name}/versions/{digest}/grant",
  scope: "admin",
  group: GROUP,
  summary: "Trust exactly this content of a skill. New runs use the newest trusted version.",
  answers: { 200: { about: "The trusted version.", schema: versionSchema } },
  async handle({ identity: { tenant, keyId }, param }, { shelf, notices }) {
    const [name, digest] = [param("name"), param("digest")];
    const version = isDigest(digest) ? await shelf.grant(tenant, name, digest, keyId) : undefined;
    if (version === undefined) return refuseVersion(name);
    notices.tell({ kind: "catalog", tenant });
    return replyWith(showVersion(version));
  },
});

const removeVersion = defineRoute({
  method: "DELETE",
  path: "/v1/skills/{name}/versions/{digest}",
  scope: "write",
  group: GROUP,
  summary: "Remove an uploaded version. Runs waiting on it will not resume.",
  answers: {
    200: { about: "The removed version.", schema: objectOf({ name: TEXT_FIELD, digest: TEXT_FIELD }) },
  },
  async handle({ identity: { tenant, keyId }, param }, { shelf, notices }) {
    const [name, digest] = [param("name"), param("digest")];
    if (!isDigest(digest) || !(await shelf.remove(tenant, name, digest, keyId))) return refuseVersion(name);
    notices.tell({ kind: "catalog", tenant });
    return replyWith({ name, digest });
  },
});

export const SKILL_ROUTES: readonly ServiceRoute[] = [
  listSkills,
  uploadSkill,
  listSkillVersions,
  grantVersion,
  removeVersion,
];
