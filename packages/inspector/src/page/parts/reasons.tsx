/**
 * Why a skill was found: each word of the request with its share of the score and where it occurs, and what is
 * missing.
 */
import type { ApiHit } from "@metier/service/api";
import { showUnseen } from "../design/text.tsx";
import { formatPercent } from "../state/format.ts";

export function Reasons({ hit }: { readonly hit: Pick<ApiHit, "words" | "missing"> }) {
  return (
    <ul class="reasons" aria-label="Why it was found">
      {hit.words.map(({ word, fields, share }) => (
        <li key={word} style={{ "--share": `${Math.round(share * 100)}%` }}>
          <strong>{showUnseen(word)}</strong>{" "}
          <span class="soft">
            {formatPercent(share)} · {fields.join(", ")}
          </span>
        </li>
      ))}
      {hit.missing.length > 0 && (
        <li class="reasons-missing">
          <span class="soft">lacks </span>
          {hit.missing.map(showUnseen).join(", ")}
        </li>
      )}
    </ul>
  );
}
