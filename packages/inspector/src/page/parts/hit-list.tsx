/** A ranking of skills, best first, each with its reasons. */
import type { ApiHit } from "@metier/service/api";
import { showUnseen } from "../design/text.tsx";
import { Reasons } from "./reasons.tsx";

interface HitListProps {
  readonly label: string;
  readonly hits: readonly ApiHit[];
  /** The name of the chosen one. */
  readonly chosen?: string | undefined;
  linkOf(hit: ApiHit): string;
}

export function HitList({ label, hits, chosen, linkOf }: HitListProps) {
  return (
    <ol class="hits" aria-label={label}>
      {hits.map((hit, index) => (
        <li key={hit.name}>
          <span class="hits-rank number soft" aria-hidden="true">
            {index + 1}
          </span>
          <div class="stack tight">
            <div class="row hits-head">
              <a href={linkOf(hit)} aria-current={hit.name === chosen ? "true" : undefined}>
                {showUnseen(hit.name)}
              </a>
              <span class="small soft">score {hit.score.toFixed(2)}</span>
            </div>
            <p class="soft hits-about">{showUnseen(hit.description)}</p>
            <Reasons hit={hit} />
          </div>
        </li>
      ))}
    </ol>
  );
}
