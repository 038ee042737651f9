/** The question of an update, to the person at the terminal: keep, take or abort; the diff on demand. */
import { isRisky } from "../../install/update/decide-update.ts";
import type { UpdateAnswer, UpdateDecisions, UpdateReview } from "../../install/update-request.ts";
import { type CliContext, out } from "../context.ts";
import { type Style, safeLine } from "../output/style.ts";
import { diffText } from "../output/update-text.ts";

const ANSWERS: ReadonlyMap<string, UpdateAnswer | "diff"> = new Map(
  (["take", "keep", "abort", "diff"] as const).flatMap((answer) => [
    [answer, answer],
    [answer.slice(0, 1), answer],
  ]),
);

export function askAboutUpdates(context: CliContext, style: Style): UpdateDecisions {
  return {
    async decide(review) {
      const usual = isRisky(review) || review.local.length > 0 ? "keep" : "take";
      for (;;) {
        const typed = (await context.io.ask(questionText(review, usual))).trim().toLowerCase();
        const answer = ANSWERS.get(typed || usual);
        if (answer === "diff") out(context, diffText(review.diff, style));
        else if (answer !== undefined) return answer;
        else out(context, "Answer with `take`, `keep`, `diff` or `abort`.");
      }
    },
  };
}

function questionText({ name, local }: UpdateReview, usual: "take" | "keep"): string {
  const take = usual === "take" ? "[T]ake" : "[t]ake";
  const keep = usual === "keep" ? "[K]eep" : "[k]eep";
  const also = local.length > 0 ? " (what you changed is put aside)" : "";
  return `${safeLine(name)}: ${take} the new version${also}, ${keep} what is here, show the [d]iff, or [a]bort: `;
}
