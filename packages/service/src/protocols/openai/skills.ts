/** Skills as OpenAI's clients read them. */
import type { Json } from "@metier/base/json";
import { choiceShape, tableShape } from "@metier/base/shape";
import { boundedText } from "../../http/query-shapes.ts";
import type { ServiceRoute } from "../../http/route.ts";
import { numberLike } from "../foreign-shapes.ts";
import { skillRoutes } from "../skill-routes.ts";
import { GROUP } from "./responses.ts";

interface CursorQuery {
  readonly after?: string;
  readonly limit?: number;
  readonly order?: "asc" | "desc";
}

const cursorShape = tableShape<CursorQuery>({
  after: boundedText(256, 1),
  limit: numberLike,
  order: choiceShape("asc", "desc"),
});

function secondsOf(time: Json | undefined): number {
  return Math.floor(Date.parse(String(time)) / 1000);
}

export const SKILL_ROUTES: readonly ServiceRoute[] = skillRoutes<CursorQuery>({
  path: "/openai/v1/skills",
  group: GROUP,
  skillQuery: cursorShape,
  versionQuery: cursorShape,
  showSkill: ({ name, description, current, versions }) => ({
    id: name,
    object: "skill",
    name,
    description,
    default_version: current,
    latest_version: versions[0]?.digest ?? "",
    created_at: secondsOf(versions.at(-1)?.uploadedAt),
  }),
  showVersion: ({ name, description }, { digest = "", uploadedAt }) => ({
    id: digest,
    object: "skill.version",
    version: digest,
    skill_id: name,
    name,
    description,
    created_at: secondsOf(uploadedAt),
  }),
  removedSkill: (id) => ({ id, object: "skill.deleted", deleted: true }),
  removedVersion: (id) => ({ id, object: "skill.version.deleted", deleted: true, version: id }),
  cursorOf: ({ after, limit }) => ({ after, limit }),
  select: (all, { order = "desc" }) => {
    const oldestFirst = all.toReversed().sort((a, b) => Number(a.created_at) - Number(b.created_at));
    return order === "asc" ? oldestFirst : oldestFirst.toReversed();
  },
  showPage: (data, hasMore) => ({
    object: "list",
    data,
    has_more: hasMore,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  }),
});
