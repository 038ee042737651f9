/**
 * The skill routes that vendors have in common: uploaded skills by their name, and their versions by their content identity.
 * A vendor says where they are, and what its clients read.
 */
import type { JsonObject } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import type { Shape } from "@metier/base/shape";
import { type HttpRefusal, refuseMissing, refuseRequest } from "../http/refusal.ts";
import { defineRoute, type RouteOutcome, replyWith, type ServiceRoute } from "../http/route.ts";
import { textIn } from "./foreign-shapes.ts";
import {
  findUploaded,
  listUploaded,
  removeUploaded,
  removeVersion,
  type UploadedSkillView,
  uploadForm,
} from "./uploaded-skill.ts";

const DEFAULT_LIMIT = 20;
const MOST_LIMIT = 500;

interface Cursor {
  /** The id of the last item of the page before. */
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

/** How a vendor says what the routes do. Whatever is shown has an `id`. */
interface SkillDialect<Query> {
  /** `/openai/v1/skills`. */
  readonly path: string;
  readonly group: string;
  readonly skillQuery: Shape<Query>;
  readonly versionQuery: Shape<Query>;
  /** What of an upload cannot be honored. */
  refuseUpload?(form: FormData): Result<never, HttpRefusal> | undefined;
  showSkill(skill: UploadedSkillView): JsonObject;
  showVersion(skill: UploadedSkillView, version: JsonObject): JsonObject;
  removedSkill(name: string): JsonObject;
  removedVersion(digest: string): JsonObject;
  cursorOf(query: Query): Cursor;
  /** Those that the query asks for, in its order. */
  select(all: readonly JsonObject[], query: Query): readonly JsonObject[];
  showPage(items: readonly JsonObject[], hasMore: boolean): JsonObject;
}

export function skillRoutes<Query>(dialect: SkillDialect<Query>): readonly ServiceRoute[] {
  const base: RouteBase = { group: dialect.group, answers: { 200: { about: "The vendor's own shape." } } };
  return [...wholeSkills(dialect, base), ...versionsOfSkills(dialect, base)];
}

type RouteBase = Pick<ServiceRoute, "group" | "answers">;

function wholeSkills<Query>(dialect: SkillDialect<Query>, base: RouteBase): readonly ServiceRoute[] {
  const { path, showSkill } = dialect;
  const one = { ...base, path: `${path}/{name}` };
  return [
    defineRoute<Record<never, never>, FormData>({
      ...base,
      method: "POST",
      path,
      scope: "write",
      summary: "Upload a skill.",
      takes: "form",
      async handle(request, context) {
        const refusal = dialect.refuseUpload?.(request.body);
        if (refusal) return refusal;
        const made = await uploadForm(request, context, request.body);
        if (!made.ok) return made;
        const found = await findUploaded(request, context, textIn(made.value.name));
        return found.ok ? replyWith(showSkill(found.value)) : found;
      },
    }),
    defineRoute<Query>({
      ...base,
      method: "GET",
      path,
      scope: "read",
      summary: "List uploaded skills.",
      query: dialect.skillQuery,
      async handle(request, context) {
        const all = await listUploaded(request, context);
        return all.ok ? replyPage(dialect, all.value.map(showSkill), request.query) : all;
      },
    }),
    defineRoute({
      ...one,
      method: "GET",
      scope: "read",
      summary: "Read an uploaded skill.",
      async handle(request, context) {
        const found = await findUploaded(request, context, request.param("name"));
        return found.ok ? replyWith(showSkill(found.value)) : found;
      },
    }),
    defineRoute({
      ...one,
      method: "DELETE",
      scope: "write",
      summary: "Remove all versions of a skill.",
      async handle(request, context) {
        const found = await findUploaded(request, context, request.param("name"));
        if (!found.ok) return found;
        const removed = await removeUploaded(request, context, found.value);
        return removed.ok ? replyWith(dialect.removedSkill(found.value.name)) : removed;
      },
    }),
  ];
}

function versionsOfSkills<Query>(dialect: SkillDialect<Query>, base: RouteBase): readonly ServiceRoute[] {
  const { path, showVersion } = dialect;
  const all = { ...base, path: `${path}/{name}/versions` };
  const one = { ...base, path: `${path}/{name}/versions/{digest}` };
  return [
    defineRoute<Record<never, never>, FormData>({
      ...all,
      method: "POST",
      scope: "write",
      summary: "Upload a version of a skill.",
      takes: "form",
      async handle(request, context) {
        const before = await findUploaded(request, context, request.param("name"));
        if (!before.ok) return before;
        const made = await uploadForm(request, context, request.body, before.value.name);
        return made.ok ? replyWith(showVersion(before.value, made.value)) : made;
      },
    }),
    defineRoute<Query>({
      ...all,
      method: "GET",
      scope: "read",
      summary: "List the versions of a skill, newest first.",
      query: dialect.versionQuery,
      async handle(request, context) {
        const found = await findUploaded(request, context, request.param("name"));
        if (!found.ok) return found;
        const versions = found.value.versions.map((version) => showVersion(found.value, version));
        return replyPage(dialect, versions, request.query);
      },
    }),
    defineRoute({
      ...one,
      method: "GET",
      scope: "read",
      summary: "Read a version of a skill.",
      async handle(request, context) {
        const found = await findUploaded(request, context, request.param("name"));
        if (!found.ok) return found;
        const digest = request.param("digest");
        const version = found.value.versions.find((each) => each.digest === digest);
        return version
          ? replyWith(showVersion(found.value, version))
          : refuseMissing("version", digest, `${path}/{name}/versions`);
      },
    }),
    defineRoute({
      ...one,
      method: "DELETE",
      scope: "write",
      summary: "Remove a version of a skill.",
      async handle(request, context) {
        const [name, digest] = [request.param("name"), request.param("digest")];
        const removed = await removeVersion(request, context, name, digest);
        return removed.ok ? replyWith(dialect.removedVersion(digest)) : removed;
      },
    }),
  ];
}

function replyPage<Query>(
  dialect: SkillDialect<Query>,
  all: readonly JsonObject[],
  query: Query,
): RouteOutcome {
  const chosen = dialect.select(all, query);
  const from = startOf(chosen, dialect.cursorOf(query));
  if (!from.ok) return from;
  const { limit = DEFAULT_LIMIT } = dialect.cursorOf(query);
  const end = from.value + Math.min(Math.max(limit, 1), MOST_LIMIT);
  return replyWith(dialect.showPage(chosen.slice(from.value, end), chosen.length > end));
}

/** A client that pages on behind an item that was removed would otherwise get the first page again, and again. */
function startOf(all: readonly JsonObject[], { after }: Cursor): Result<number, HttpRefusal> {
  if (after === undefined) return done(0);
  const at = all.findIndex(({ id }) => id === after);
  return at < 0
    ? refuseRequest(
        `The page starts behind \`${after}\`, which isn't in the list.`,
        "Start with the first page.",
      )
    : done(at + 1);
}
