/** The filters for the list of skills; each choice is part of the address. */
import type { ApiCatalog } from "@metier/service/api";
import { useMemo } from "preact/hooks";
import { Button } from "../design/button.tsx";
import { CheckField, ChoiceField, TextField } from "../design/field.tsx";
import { address, changeQuery } from "../state/address.ts";
import { formatNumber } from "../state/format.ts";
import { type CatalogFilter, type FilteredSkills, listScopes, STATUSES } from "./filter-skills.ts";

export function clearFilters(): void {
  changeQuery({
    q: undefined,
    status: undefined,
    trust: undefined,
    scope: undefined,
    for: undefined,
    problems: undefined,
    rank: undefined,
  });
}

export function toggleRanking(): void {
  changeQuery({ rank: address.value.query.get("rank") === "find" ? undefined : "find" });
}

interface CatalogFiltersProps {
  readonly catalog: ApiCatalog;
  readonly filter: CatalogFilter;
  readonly counts: FilteredSkills["counts"];
  readonly isRanked: boolean;
}

export function CatalogFilters({ catalog, filter, counts, isRanked }: CatalogFiltersProps) {
  const scopes = useMemo(() => listScopes(catalog.data), [catalog]);
  const wantsRanking = address.value.query.get("rank") === "find";
  return (
    <search class="stack catalog-filters">
      <div class="catalog-fields">
        <div class="catalog-search">
          <TextField
            label="Search"
            type="search"
            isSearch
            value={filter.text}
            placeholder="Words, or what you want to do"
            onInput={(text) => changeQuery({ q: text })}
          />
        </div>
        <NarrowingFields filter={filter} scopes={scopes} />
        {!isRanked && (
          <ChoiceField
            label="Sort by"
            value={filter.order}
            options={[
              ["name", "Name"],
              ["tokens", "Most tokens"],
              ["problems", "Most problems"],
            ]}
            onChange={(order) => changeQuery({ sort: order === "name" ? undefined : order })}
          />
        )}
      </div>
      <div class="row catalog-second">
        {!isRanked && <StatusChoice counts={counts} chosen={filter.status} />}
        <CheckField
          label="Has problems"
          isChecked={filter.hasProblems}
          onChange={(isChecked) => changeQuery({ problems: isChecked ? "yes" : undefined })}
        />
        <CheckField label="Rank like “find”" isChecked={wantsRanking} onChange={toggleRanking} />
      </div>
    </search>
  );
}

interface NarrowingProps {
  readonly filter: CatalogFilter;
  readonly scopes: readonly string[];
}

function NarrowingFields({ filter, scopes }: NarrowingProps) {
  return (
    <>
      <ChoiceField
        label="Trust"
        value={filter.trust ?? ""}
        options={[["", "Any"], "trusted", "untrusted"]}
        onChange={(trust) => changeQuery({ trust })}
      />
      <ChoiceField
        label="Scope"
        value={filter.scope ?? ""}
        options={[["", "Any"], ...scopes]}
        onChange={(scope) => changeQuery({ scope })}
      />
      <ChoiceField
        label="For"
        value={filter.audience ?? ""}
        options={[
          ["", "Anyone"],
          ["models", "Models"],
          ["users", "Users"],
        ]}
        onChange={(audience) => changeQuery({ for: audience })}
      />
    </>
  );
}

const TITLES: Readonly<Record<keyof FilteredSkills["counts"], string>> = {
  enabled: "Enabled",
  unavailable: "Unavailable",
  disabled: "Disabled",
  shadowed: "Shadowed",
  invalid: "Invalid",
};

function StatusChoice({
  counts,
  chosen,
}: {
  readonly counts: FilteredSkills["counts"];
  readonly chosen: CatalogFilter["status"];
}) {
  const all = STATUSES.reduce((sum, status) => sum + counts[status], 0);
  const choices = [
    { status: undefined, title: "All", count: all },
    ...STATUSES.map((status) => ({ status, title: TITLES[status], count: counts[status] })),
  ];
  return (
    <fieldset class="row catalog-statuses">
      <legend class="hidden">Status</legend>
      {choices
        .filter(({ status, count }) => status === undefined || status === chosen || count > 0)
        .map(({ status, title, count }) => (
          <Button key={title} isPressed={status === chosen} onPress={() => changeQuery({ status })}>
            {title} <span class="soft">{formatNumber(count)}</span>
          </Button>
        ))}
    </fieldset>
  );
}
