/** There is a description, and it is of a size every client takes. */
import { MAX_DESCRIPTION_LENGTH } from "../../skill/manifest-fields.ts";
import { countCharacters } from "../count-characters.ts";
import { findGiven } from "../read-fields.ts";
import type { Rule } from "../rule.ts";

const TAG = /<\/?[a-z][^<>]{0,200}>/i;

export const descriptionRule: Rule = {
  codes: ["description.missing", "description.too-long", "description.markup"],
  check({ draft, fields }, report) {
    const given = findGiven(fields.known, "description");
    const key = given?.key ?? "description";
    if (draft.description === "") {
      report("description.missing", given ? "`description` is empty." : "There is no `description`.", {
        key,
        hint: "Add `description:` with what the skill does and when to use it; a model chooses by it.",
      });
      return;
    }
    const written = typeof given?.value === "string" ? given.value : draft.description;
    const length = countCharacters(written, MAX_DESCRIPTION_LENGTH);
    if (length > MAX_DESCRIPTION_LENGTH) {
      report(
        "description.too-long",
        `\`description\` has ${length} characters; ${MAX_DESCRIPTION_LENGTH} are allowed.`,
        {
          key,
          hint: "Shorten it to what a model needs for choosing; the rest belongs into the body.",
        },
      );
    }
    if (draft.description.includes("<") && TAG.test(draft.description)) {
      report("description.markup", "`description` has a tag like `<…>`; claude.ai does not accept it.", {
        key,
      });
    }
  },
};
