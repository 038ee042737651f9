/** Is there such a skill? If not, the answer names what is near and what there is. */
import type { Catalog } from "../../catalog/catalog.ts";
import { nearSkills } from "../../skill/remote-name.ts";
import { parseSkillAddress } from "../../skill/scope.ts";
import { showNames, showValue } from "../../validate/report.ts";
import type { RefusalCause } from "../invocation.ts";

const MOST_NAMES = 20;

/** For a name that the catalog does not have. */
export function refuseUnknown(asked: string, catalog: Catalog): RefusalCause {
  const available = catalog.names();
  const near = nearSkills(parseSkillAddress(asked).name, available);
  const listed = available.slice(0, MOST_NAMES);
  const more = available.length - listed.length;
  const known =
    available.length === 0
      ? "There are no skills."
      : `Available: ${showNames(listed)}${more > 0 ? ` and ${more} more` : ""}.`;
  const which = asked.trim() === "" ? "No skill was named." : `Skill ${showValue(asked)} was not found.`;
  return {
    reason: "not-found",
    message: `${which} ${known}`,
    hint:
      near.length > 0
        ? `Did you mean ${near.map(showValue).join(" or ")}?`
        : "`metier list` shows every skill; `metier doctor` says where they are looked for.",
    data: { skill: asked, near, available: listed },
  };
}
