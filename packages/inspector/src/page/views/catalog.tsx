/** The first page: every skill, whether it can be used and why not, what it costs, and its problems. */
import type { ApiCatalog } from "@metier/service/api";
import { useMemo } from "preact/hooks";
import { CatalogFilters, clearFilters, toggleRanking } from "../catalog/catalog-filters.tsx";
import { filterSkills, indexSkills, readCatalogFilter } from "../catalog/filter-skills.ts";
import { Ranking } from "../catalog/ranking.tsx";
import { SkillTable } from "../catalog/skill-table.tsx";
import { Button } from "../design/button.tsx";
import { Answered, Empty } from "../design/notice.tsx";
import { ViewPage } from "../design/page.tsx";
import { ProblemList } from "../parts/problem-list.tsx";
import { CATALOG } from "../parts/skill-paths.ts";
import { address, changeQuery } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";
import { countOf, formatTokens } from "../state/format.ts";
import { useKeys } from "../state/keys.ts";

export function CatalogView() {
  const known = useAnswer<ApiCatalog>(CATALOG);
  useKeys([
    { keys: "l", about: "Go to the list", group: "Skills", act: focusList },
    { keys: "f", about: "Rank like “find”, or filter", group: "Skills", act: toggleRanking },
    {
      keys: "x",
      about: "Only skills with problems, or all",
      group: "Skills",
      act: () => changeQuery({ problems: address.value.query.get("problems") === "yes" ? undefined : "yes" }),
    },
  ]);
  return (
    <ViewPage title="Skills" lead={known.value && <CatalogLead catalog={known.value} />}>
      <Answered known={known} path={CATALOG}>
        {(catalog) => <CatalogList catalog={catalog} />}
      </Answered>
    </ViewPage>
  );
}

function focusList(): void {
  document.querySelector<HTMLElement>(".page [data-cursor-target], .page .hits a")?.focus();
}

/** What all skills together mean for a model. */
function CatalogLead({ catalog: { data } }: { readonly catalog: ApiCatalog }) {
  const listed = data.filter(({ status, isForModels }) => status === "enabled" && isForModels);
  const tokens = listed.reduce((sum, { listingTokens }) => sum + listingTokens, 0);
  return (
    <>
      {countOf(data.length, "skill")}. Models can choose from {countOf(listed.length, "skill")}; listing them
      takes about {formatTokens(tokens)} tokens.
    </>
  );
}

function CatalogList({ catalog }: { readonly catalog: ApiCatalog }) {
  const { query } = address.value;
  const searchable = useMemo(() => indexSkills(catalog.data), [catalog]);
  const filter = readCatalogFilter(query);
  const filtered = useMemo(() => filterSkills(searchable, filter), [searchable, query]);
  const isRanked = query.get("rank") === "find" && filter.text.trim() !== "";
  return (
    <>
      <SourceProblems diagnostics={catalog.diagnostics} />
      {catalog.data.length === 0 ? (
        <NoSkills />
      ) : (
        <>
          <CatalogFilters catalog={catalog} filter={filter} counts={filtered.counts} isRanked={isRanked} />
          {isRanked ? (
            <Ranking catalog={catalog} filter={filter} />
          ) : filtered.rows.length === 0 ? (
            <NothingFits text={filter.text} />
          ) : (
            <SkillTable skills={filtered.rows} />
          )}
        </>
      )}
    </>
  );
}

/** Warnings are folded, since people come for the list. */
function SourceProblems({ diagnostics }: Pick<ApiCatalog, "diagnostics">) {
  if (diagnostics.length === 0) return null;
  const isBad = diagnostics.some(({ severity }) => severity === "error");
  return (
    <details class={`notice catalog-problems ${isBad ? "bad" : "warn"}`} open={isBad}>
      <summary>
        <strong>{countOf(diagnostics.length, "problem")}</strong> in the sources and the configuration
      </summary>
      <ProblemList diagnostics={diagnostics} />
    </details>
  );
}

function NoSkills() {
  return (
    <Empty title="No skills yet.">
      <p>
        Write one with <code>metier new my-skill</code>, or get one with{" "}
        <code>metier install owner/repository</code>. It appears here by itself.
      </p>
    </Empty>
  );
}

function NothingFits({ text }: { readonly text: string }) {
  return (
    <Empty title="No skill matches these filters.">
      {text.trim() !== "" && (
        <p class="soft">
          The search covers names, descriptions, scopes, tags and reasons; ranking also reads instructions.
        </p>
      )}
      <div class="row">
        <Button onPress={clearFilters}>Clear all filters</Button>
        {text.trim() !== "" && <Button onPress={toggleRanking}>Rank like “find”</Button>}
      </div>
    </Empty>
  );
}
