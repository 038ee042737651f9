import fc from "fast-check";
import { expect, test } from "vitest";
import { findLinks } from "../../src/parse/body.ts";
import { isCapabilityId, parseToolPattern, splitToolPatterns } from "../../src/skill/field-grammars.ts";
import {
  isSkillName,
  MAX_NAME_LENGTH,
  normaliseSkillName,
  skillNameFaults,
} from "../../src/skill/skill-name.ts";

/** Any text, and text made of what the grammars care about. */
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.string({
    unit: fc.constantFrom("a", "B", "-", "_", " ", ",", "(", ")", "*", ":", "é", "İ", "ß", "\u0301"),
    maxLength: 100,
  }),
);

test("normalising any text gives a name or nothing", () => {
  fc.assert(
    fc.property(text, (name) => {
      const normal = normaliseSkillName(name);
      expect(normal === "" || isSkillName(normal)).toBe(true);
      expect([...normal].length).toBeLessThanOrEqual(MAX_NAME_LENGTH);
    }),
    { numRuns: 2000 },
  );
});

test("normalising is idempotent and leaves names as they are", () => {
  fc.assert(
    fc.property(text, (name) => {
      const normal = normaliseSkillName(name);
      expect(normaliseSkillName(normal)).toBe(normal);
      if (isSkillName(name)) expect(normal).toBe(name.normalize("NFKC"));
    }),
    { numRuns: 2000 },
  );
});

test("a text is a name exactly when no fault is found in it", () => {
  fc.assert(
    fc.property(text, (name) => {
      expect(skillNameFaults(name).length === 0).toBe(isSkillName(name));
    }),
    { numRuns: 2000 },
  );
});

test("tool patterns split without loss, and splitting again changes nothing", () => {
  fc.assert(
    fc.property(text, (line) => {
      const patterns = splitToolPatterns(line);
      const kept = (value: string) => value.replace(/[\s,]/g, "");
      expect(kept(patterns.join(""))).toBe(kept(line));
      expect(splitToolPatterns(patterns.join(" "))).toEqual(patterns);
    }),
    { numRuns: 2000 },
  );
});

test("a pattern that can be read is written back as it was", () => {
  fc.assert(
    fc.property(text, (line) => {
      for (const pattern of splitToolPatterns(line)) {
        const parsed = parseToolPattern(pattern);
        if (parsed === undefined) continue;
        const { tool, scope } = parsed;
        const written = scope === undefined ? tool : `${tool}(${scope})`;
        expect(parseToolPattern(written)).toEqual(parsed);
      }
    }),
    { numRuns: 2000 },
  );
});

test("no grammar hangs on a large hostile text", () => {
  const size = 200_000;
  for (const unit of ["(", ")", "a(", "-", "a-", "a.", "](", "[a](", "`", "` `` ", "<", "[", " ", "\u0301"]) {
    const hostile = unit.repeat(size / unit.length);
    expect(() => {
      normaliseSkillName(hostile);
      isSkillName(hostile);
      skillNameFaults(hostile);
      isCapabilityId(hostile);
      splitToolPatterns(hostile).map(parseToolPattern);
      findLinks(hostile);
    }, unit).not.toThrow();
  }
});
