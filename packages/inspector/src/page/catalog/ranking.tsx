/** Skills ranked by `find` for the words of the search, narrowed by the other filters. */
import type { ApiCatalog, ApiFind } from "@metier/service/api";
import { useMemo } from "preact/hooks";
import { Answered, Empty } from "../design/notice.tsx";
import { HitList } from "../parts/hit-list.tsx";
import { findPath } from "../parts/skill-paths.ts";
import { linkTo } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";
import { countOf } from "../state/format.ts";
import { useLastKnown, useSettled } from "../state/settled.ts";
import { type CatalogFilter, filterSkills, indexSkills } from "./filter-skills.ts";

export function Ranking({
  catalog,
  filter,
}: {
  readonly catalog: ApiCatalog;
  readonly filter: CatalogFilter;
}) {
  const request = useSettled(filter.text.trim());
  const path = findPath(request);
  const found = useLastKnown(useAnswer<ApiFind>(path));
  const { trust, scope, audience, hasProblems } = filter;
  /** Skills that may be shown, by name. Only usable skills are ranked, and each name is usable once. */
  const addresses = useMemo(() => {
    const asked = {
      text: "",
      status: "enabled",
      order: "name",
      trust,
      scope,
      audience,
      hasProblems,
    } as const;
    const { rows } = filterSkills(indexSkills(catalog.data), asked);
    return new Map(rows.map(({ name, address }) => [name, address]));
  }, [catalog, trust, scope, audience, hasProblems]);
  return (
    <Answered known={found} path={path}>
      {({ data, words }) => {
        const hits = data.filter(({ name }) => addresses.has(name));
        if (hits.length === 0) return <NothingFound words={words} isFiltered={data.length > 0} />;
        return (
          <div class="stack">
            <p class="soft" role="status">
              {countOf(hits.length, "skill")} for “{request}”, as <code>metier find</code> does. Models choose
              by description; the ranking also reads instructions.
            </p>
            <HitList
              label="Ranking"
              hits={hits}
              linkOf={({ name }) => linkTo(["skill", addresses.get(name) ?? name])}
            />
          </div>
        );
      }}
    </Answered>
  );
}

function NothingFound({
  words,
  isFiltered,
}: {
  readonly words: readonly string[];
  readonly isFiltered: boolean;
}) {
  return (
    <Empty title={isFiltered ? "The filters hide all results." : "No skill has these words."}>
      {words.length > 0 && <p class="soft">Searched for: {words.join(", ")}</p>}
      <p>{isFiltered ? "Use fewer filters." : "Only usable skills are ranked. Try other words."}</p>
    </Empty>
  );
}
