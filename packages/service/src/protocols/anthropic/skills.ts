/** Skills as Anthropic's clients read them. */
import { tableShape } from "@metier/base/shape";
import { boundedText } from "../../http/query-shapes.ts";
import { refuseRequest } from "../../http/refusal.ts";
import type { ServiceRoute } from "../../http/route.ts";
import { skillRoutes } from "../skill-routes.ts";
import { type AnthropicPage, GROUP, PAGE_FIELDS } from "./anthropic-page.ts";

interface SkillQuery extends AnthropicPage {
  readonly source?: string;
}

export const SKILL_ROUTES: readonly ServiceRoute[] = skillRoutes<SkillQuery>({
  path: "/anthropic/v1/skills",
  group: GROUP,
  skillQuery: tableShape<SkillQuery>({ ...PAGE_FIELDS, source: boundedText(64) }),
  versionQuery: tableShape<AnthropicPage>(PAGE_FIELDS),
  refuseUpload(form) {
    if (!form.has("display_name")) return undefined;
    const hint = "Leave it out: the name of a skill comes from its `SKILL.md`.";
    return refuseRequest("Metier doesn't store `display_name`.", hint);
  },
  showSkill: ({ name, versions }) => ({
    type: "skill",
    id: name,
    display_name: name,
    latest_version_id: versions[0]?.digest ?? "",
    source: { type: "custom" },
    created_at: versions.at(-1)?.uploadedAt ?? null,
    updated_at: versions[0]?.uploadedAt ?? null,
  }),
  showVersion: ({ name, description }, { digest, uploadedAt }) => ({
    type: "skill_version",
    id: digest ?? "",
    skill_id: name,
    name,
    description,
    created_at: uploadedAt ?? null,
  }),
  removedSkill: (id) => ({ type: "skill_deleted", id }),
  removedVersion: (id) => ({ type: "skill_version_deleted", id }),
  cursorOf: ({ page, limit }) => ({ after: page, limit }),
  select: (all, { source = "custom" }) => (source === "custom" ? all : []),
  showPage: (data, hasMore) => ({ data, next_page: hasMore ? (data.at(-1)?.id ?? null) : null }),
});
