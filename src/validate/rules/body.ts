/** There are instructions, and they are of a size that fits a model's attention. */
import type { Rule } from "../rule.ts";

const MAX_TOKENS = 5000;
const MAX_LINES = 500;
const CHARACTERS_PER_TOKEN = 4;

export const bodyRule: Rule = {
  codes: ["body.empty", "body.too-long", "body.too-many-lines"],
  check({ parsed, body }, report) {
    const line = parsed.bodyLine;
    const hint = "Move details into files beside it and link to them; they are then read when needed.";
    if (body.characters === 0) {
      report("body.empty", "There are no instructions after the frontmatter.", {
        line,
        hint: "Write below it what a model is to do.",
      });
    }
    const tokens = Math.ceil(body.characters / CHARACTERS_PER_TOKEN);
    if (tokens > MAX_TOKENS) {
      report("body.too-long", `The body has about ${tokens} tokens; up to ${MAX_TOKENS} are recommended.`, {
        line,
        hint,
      });
    }
    if (body.lines > MAX_LINES) {
      report("body.too-many-lines", `The body has ${body.lines} lines; up to ${MAX_LINES} are recommended.`, {
        line,
        hint,
      });
    }
  },
};
