/** The scan over its own examples and over the development set, if available: counts, as JSON. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAtLeast } from "@metier/scan";
import { listScanRules, scanSkill } from "@metier/scan/engine";
import { SCAN_SEVERITIES } from "@metier/skills/config";
import { ROOT } from "../../scripts/setup/repository.mjs";
import { SCAN_FIXTURES } from "../../test/support/scan-fixtures/all.ts";
import { writeFixture } from "../../test/support/scan-fixtures/fixture.ts";
import { ROUTING_SET_IS_HERE, readRoutingSet } from "../find/routing-set.mjs";

const CORPUS = join(ROOT, "../shared/corpus/skills");
const work = mkdtempSync(join(tmpdir(), "metier-bench-scan-"));
try {
  const families = await scoreExamples();
  const sets = [];
  if (existsSync(CORPUS)) sets.push(await scoreSet("odd and plain skills", skillFolders(CORPUS)));
  if (ROUTING_SET_IS_HERE) sets.push(await scoreSet("texts of skills", writeTexts()));
  process.stdout.write(JSON.stringify({ families, sets }));
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function scoreExamples() {
  const rules = listScanRules();
  const scores = [];
  for (const family of new Set(rules.map((rule) => rule.family))) {
    const positives = SCAN_FIXTURES.flatMap(({ positive }) => positive).filter((one) => isOf(one, family));
    const negatives = SCAN_FIXTURES.flatMap(({ negative }) => negative).filter((one) => isOf(one, family));
    scores.push({
      family,
      rules: rules.filter((rule) => rule.family === family).length,
      positives: positives.length,
      found: await countHits(positives),
      negatives: negatives.length,
      wrong: await countHits(negatives),
    });
  }
  return scores;
}

/** @param {{ readonly rule: string }} fixture @param {string} family */
function isOf({ rule }, family) {
  return rule.startsWith(`${family}.`);
}

/** How many of them their rule applies to. @param {readonly import("../../test/support/scan-fixtures/fixture.ts").RuleFixture[]} fixtures */
async function countHits(fixtures) {
  let hits = 0;
  for (const { rule, files, knownNames = [] } of fixtures) {
    const directory = mkdtempSync(join(work, "example-"));
    writeFixture(directory, files);
    const { findings } = await scanSkill({ directory }, { knownNames });
    if (findings.some(({ id }) => id === rule)) hits++;
  }
  return hits;
}

/** @param {string} name @param {readonly string[]} folders */
async function scoreSet(name, folders) {
  const atLeast = Object.fromEntries(SCAN_SEVERITIES.map((level) => [level, 0]));
  /** @type {Record<string, number>} */
  const rules = {};
  const start = performance.now();
  for (const directory of folders) {
    const { findings } = await scanSkill({ directory });
    for (const level of SCAN_SEVERITIES) {
      if (findings.some(({ severity }) => isAtLeast(severity, level)))
        atLeast[level] = (atLeast[level] ?? 0) + 1;
    }
    const worst = findings.filter(({ severity }) => isAtLeast(severity, "high"));
    for (const id of new Set(worst.map((finding) => finding.id))) rules[id] = (rules[id] ?? 0) + 1;
  }
  return { name, skills: folders.length, atLeast, rules, milliseconds: performance.now() - start };
}

/** @param {string} folder @returns {string[]} */
function skillFolders(folder) {
  const entries = readdirSync(folder, { withFileTypes: true });
  if (entries.some((entry) => entry.isFile() && /^skill\.md$/i.test(entry.name))) return [folder];
  return entries
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => skillFolders(join(folder, name)));
}

/** The texts of the routing set, each as a skill. */
function writeTexts() {
  return readRoutingSet().skills.map(({ name, description, body }, index) => {
    const directory = join(work, "texts", String(index));
    mkdirSync(directory, { recursive: true });
    const head = `name: ${JSON.stringify(name)}\ndescription: ${JSON.stringify(description)}`;
    writeFileSync(join(directory, "SKILL.md"), `---\n${head}\n---\n\n${body}\n`);
    return directory;
  });
}
