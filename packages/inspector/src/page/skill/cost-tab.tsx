/** What a skill costs before it does anything (its line in the listing, its instructions), and what its runs cost. */
import type { ApiCatalog, ApiSkill, ApiStatistics } from "@metier/service/api";
import { Facts, Figures } from "../design/facts.tsx";
import { Section } from "../design/page.tsx";
import { CATALOG } from "../parts/skill-paths.ts";
import { useAnswer } from "../state/answers.ts";
import { formatCost, formatDuration, formatNumber, formatPercent, formatTokens } from "../state/format.ts";

export function CostTab({ skill }: { readonly skill: ApiSkill }) {
  const { listingTokens, bodyTokens, isForModels, status, name } = skill;
  const isListed = isForModels && status === "enabled";
  const all = useAnswer<ApiCatalog>(CATALOG).value?.data ?? [];
  const listing = all
    .filter((other) => other.isForModels && other.status === "enabled")
    .reduce((sum, other) => sum + other.listingTokens, 0);
  const used = useAnswer<ApiStatistics>("/v1/statistics").value?.skills.find((row) => row.skill === name);
  return (
    <>
      <Section title="Tokens">
        <Figures
          figures={[
            ["In the listing", isListed ? `${formatTokens(listingTokens)} tokens` : "nothing"],
            ["When it is used", `${formatTokens(bodyTokens)} tokens`],
            [
              "Share of the listing",
              isListed && listing > 0 ? formatPercent(listingTokens / listing) : undefined,
            ],
          ]}
        />
        <div class="stack tight soft">
          <p>
            {isListed
              ? "Every request to a model pays for the listing line, even if the skill isn't used. A shorter description makes it cheaper."
              : "Models don't see it, so it costs nothing until someone uses it."}
          </p>
          <p>
            Its instructions cost tokens once it is used, and again with each step of that run unless they are
            cached.
          </p>
        </div>
      </Section>
      {used && (
        <Section title="Runs">
          <Facts
            facts={[
              ["Runs", formatNumber(used.runs)],
              ["Failed", formatNumber(used.failed)],
              ["Tokens", formatTokens(used.tokens)],
              ["Cost", formatCost(used.cost)],
              ["Median time", formatDuration(used.medianMs)],
            ]}
          />
        </Section>
      )}
    </>
  );
}
