/** What a model would be told about the skills within a budget: which are in full, shortened, named or only counted. */
import type { ApiCatalog, ApiListing } from "@metier/service/api";
import { RangeField } from "../design/field.tsx";
import { Answered } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { Code, showUnseen } from "../design/text.tsx";
import { CATALOG, listingPath } from "../parts/skill-paths.ts";
import { address, changeQuery } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";
import { countOf, formatNumber, formatTokens } from "../state/format.ts";
import { useLastKnown, useSettled } from "../state/settled.ts";
import { budgetRange, readBudget } from "./budget.ts";

export function ListingPanel() {
  const catalog = useAnswer<ApiCatalog>(CATALOG);
  const range = budgetRange(catalog.value?.data ?? []);
  const budget = readBudget(address.value.query.get("budget"), range);
  const settled = useSettled(budget);
  const path = listingPath(settled);
  const known = useLastKnown(useAnswer<ApiListing>(path));
  return (
    <Section title="What a model is told">
      <RangeField
        label="Budget for the listing"
        value={budget}
        {...range}
        shown={`${formatNumber(budget)} tokens`}
        onInput={(chosen) => changeQuery({ budget: String(chosen) })}
      />
      <Answered known={known} path={path}>
        {(listing) => <ListingDetails listing={listing} />}
      </Answered>
    </Section>
  );
}

const CLASSES = [
  ["full", "Full", "with the full description"],
  ["shortened", "Shortened", "with the start of the description"],
  ["nameOnly", "Name only", "without a description"],
  ["counted", "Counted", "not named; a model must search for them"],
] as const;

const MOST_NAMES = 200;

function ListingDetails({ listing }: { readonly listing: ApiListing }) {
  const { tokens, budget, fits, text } = listing;
  return (
    <>
      <p role="status">
        Uses {formatTokens(tokens)} of {formatTokens(budget)} tokens.
        {!fits && <strong> It doesn't fit: even the shortest listing needs more.</strong>}
      </p>
      <div class="listing-bar" aria-hidden="true">
        {CLASSES.filter(([id]) => listing[id].length > 0).map(([id]) => (
          <span key={id} class={id} style={{ flexGrow: listing[id].length }} />
        ))}
      </div>
      <ul class="listing-classes">
        {CLASSES.map(([id, title, about]) => (
          <li key={id}>
            <ClassOfSkills id={id} title={title} about={about} names={listing[id]} />
          </li>
        ))}
      </ul>
      <details>
        <summary>The text itself</summary>
        <Code text={text} label="ListingPanel" />
      </details>
    </>
  );
}

interface ClassProps {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly names: readonly string[];
}

function ClassOfSkills({ id, title, about, names }: ClassProps) {
  const head = (
    <>
      <span class={`listing-key ${id}`} aria-hidden="true" /> {title}: {countOf(names.length, "skill")}{" "}
      <span class="soft small">{about}</span>
    </>
  );
  if (names.length === 0) return <span class="listing-none">{head}</span>;
  const rest = names.length - MOST_NAMES;
  return (
    <details>
      <summary>{head}</summary>
      <p class="small">
        {names.slice(0, MOST_NAMES).map(showUnseen).join(", ")}
        {rest > 0 && ` and ${formatNumber(rest)} more`}
      </p>
    </details>
  );
}
