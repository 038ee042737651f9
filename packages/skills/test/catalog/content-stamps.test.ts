/** When the stamps of a skill's folder say that nothing has changed. */
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ContentStamps, type SkillContent, stampContent } from "@metier/skills/trust";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";

/** As if the files had been there for a while. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
  onTestFinished(() => void vi.useRealTimers());
});

function createSkill(): { readonly above: string; readonly folder: string; readonly content: SkillContent } {
  const above = join(temporaryFolder(), "above");
  const folder = join(above, "skill");
  writeTree(folder, { "SKILL.md": "text", "references/deep/more.md": "more" });
  mkdirSync(join(folder, "empty"));
  const content = { form: "directory", location: join(folder, "SKILL.md"), directory: folder } as const;
  return { above, folder, content };
}

function stamp(content: SkillContent): ContentStamps {
  const stamps = stampContent(content);
  if (stamps === undefined) throw new Error("There are no stamps.");
  expect(stamps.hold()).toBe(true);
  return stamps;
}

const CHANGES: Readonly<Record<string, (folder: string) => void>> = {
  "another text of the same size and time": (folder) => {
    writeFileSync(join(folder, "SKILL.md"), "TEXT");
    utimesSync(join(folder, "SKILL.md"), 1, 1);
  },
  "another time": (folder) => utimesSync(join(folder, "references/deep/more.md"), 1, 1),
  "a file in a folder that was empty": (folder) => writeFileSync(join(folder, "empty/new"), ""),
  "a folder more": (folder) => mkdirSync(join(folder, "references/deep/new")),
  "a file less": (folder) => rmSync(join(folder, "references/deep/more.md")),
  "no skill": (folder) => rmSync(folder, { recursive: true }),
};

test.each(Object.entries(CHANGES))("they do not hold after %s", (_, change) => {
  const { folder, content } = createSkill();
  const stamps = stamp(content);
  change(folder);
  expect(stamps.hold()).toBe(false);
});

test("they do not hold once the same files are reached over a link", () => {
  const { above, content } = createSkill();
  const stamps = stamp(content);
  renameSync(above, `${above}-moved`);
  symlinkSync(`${above}-moved`, above);
  expect(stamps.hold()).toBe(false);
  expect(stamp(content).hold()).toBe(true);
});

test("there are none for a skill with a link in it, or one that was just written", () => {
  const { folder, content } = createSkill();
  symlinkSync("SKILL.md", join(folder, "link.md"));
  expect(stampContent(content)).toBeUndefined();
  const young = createSkill();
  vi.useRealTimers();
  expect(stampContent(young.content)).toBeUndefined();
});
