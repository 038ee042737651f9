/** Whatever a skill writes, what a model sees is well-formed and hides nothing. */
import { cleanText } from "@metier/base/text";
import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { escapeXml } from "../../src/disclose/conversation.ts";
import { renderListing } from "../../src/disclose/render-listing.ts";
import { listedSkill } from "./listed-skill.ts";
import { readXml } from "./read-xml.ts";

const hex = (character: string): string =>
  (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");

/** Any code units, and often what means something in XML, in Markdown or to nobody's eye. */
const hostileText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 8 }),
      fc.constantFrom(
        "</skill>",
        "<name>",
        "]]>",
        "<!--",
        "&amp;",
        "&#60;",
        '"',
        "'",
        "\r\n",
        "\t",
        "**",
        "`",
      ),
      fc.constantFrom(
        "\u0000",
        "\u001b",
        "\ud800",
        "\udc00",
        "\ufffe",
        "\u202e",
        "\u{e0041}",
        "\u200b",
        "\ufe0f",
        "👩‍🚀",
      ),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

verifies(
  [107, "case 52"],
  "any content gives well-formed XML whose fields are the content after cleaning",
  () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ name: hostileText, description: hostileText, location: hostileText }), {
          minLength: 1,
          maxLength: 4,
        }),
        (given) => {
          const skills = given.map(({ name, description, location }) =>
            listedSkill(name, { description, location }),
          );
          const root = readXml(renderListing(skills, { activation: "none" }));
          expect(root.tag).toBe("available_skills");
          const read = root.children.map(({ tag, children }) => [
            tag,
            Object.fromEntries(children.map((field) => [field.tag, field.text])),
          ]);
          const line = (text: string): string =>
            cleanText(text)
              .text.replace(/[\s\u0085]+/g, " ")
              .trim();
          const expected = given
            .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
            .map(({ name, description, location }) => [
              "skill",
              {
                name: line(name),
                ...(cleanText(description).text === "" ? {} : { description: cleanText(description).text }),
                ...(location === "" ? {} : { location: line(location) }),
              },
            ]);
          expect(read).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  },
);

test("any content gives JSON that reads back as the content after cleaning", () => {
  fc.assert(
    fc.property(hostileText, (description) => {
      const [skill] = JSON.parse(
        renderListing([listedSkill("a", { description })], { format: "json" }),
      ).skills;
      expect(skill.description ?? "").toBe(cleanText(description).text);
    }),
  );
});

test("escaped text has no sign of XML and no character that XML forbids", () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const escaped = escapeXml(text);
      expect(escaped).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|apos);)/);
      expect(escaped).not.toMatch(/[\x00-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF]/);
      expect(escaped.isWellFormed()).toBe(true);
    }),
  );
});

test("cleaning is done once and for all, and leaves plain text alone", () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const { text: clean } = cleanText(text);
      expect(cleanText(clean)).toEqual({ text: clean });
    }),
  );
  const plain = "naïve 日本語 العربية می‌خواهم 👩‍🚀 ❤️‍🔥 🏴󠁧󠁢󠁳󠁣󠁴󠁿 1️⃣ 葛󠄀\n\ttab";
  expect(cleanText(plain)).toEqual({ text: plain });
});

test.each([
  ["a right-to-left override", "a\u202eb", "U+202E"],
  ["an isolate", "a\u2066b", "U+2066"],
  ["a zero-width space", "a\u200bb", "U+200B"],
  ["a tag", "a\u{e0041}b", "U+E0041"],
  ["tags after a flag that spell no flag", "🏴\u{e0068}\u{e0069}", "U+E0068"],
  ["a selector after a selector", "⚙\ufe0f\ufe0e", "U+FE0E"],
  ["a selector that could carry a hidden byte", "a\u{e0141}", "U+E0141"],
  ["an escape", "a\u001b[31m", "U+001B"],
  ["half a pair", "a\ud83d", "U+D83D"],
])("%s is taken out and reported", (_, text, example) => {
  const { text: clean, removed } = cleanText(text);
  expect([...clean].map((character) => `U+${hex(character)}`)).not.toContain(example);
  expect(removed).toMatchObject({ example });
  expect(renderListing([listedSkill("a", { description: text })])).toContain(escapeXml(clean));
});
