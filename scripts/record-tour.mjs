/**
 * `node scripts/record-tour.mjs`: makes the recordings that the tour replays, from scripted model answers. Run it when
 * the prompt or the tools of a run change. The recordings contain no paths of this machine.
 */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NOTES_FILE, TOUR_SKILL, TOUR_TASK, writeTourProject } from "@metier/cli";
import { createScriptModel } from "@metier/run/model";
import { createMetier } from "metier";
import { ROOT } from "./setup/repository.mjs";

const SUMMARY = [
  "- Version 2.4 ships on Thursday if the migration test passes; Jun runs it tonight, and Ada writes the missing export documentation before then.",
  "- The new export is slower above 2 GB (41 s against 12 s); Sol measures whether it is the checksum. It does not block the release.",
  "- Still open: whether 2.3 gets fixes, to be decided next week.",
].join("\n");

const read = { tool: "read_file", input: { path: NOTES_FILE } };
const count = { tool: "bash", input: { command: `wc -w < ${NOTES_FILE}` } };

const SCRIPTS = {
  tour: [
    { answer: { text: "I read the notes and count their words.", toolCalls: [read, count] } },
    { answer: { text: `${SUMMARY}\n\nThe notes have 88 words.` } },
  ],
  "tour-without-sandbox": [
    { answer: { text: "I read the notes.", toolCalls: [read] } },
    { answer: { text: `${SUMMARY}\n\nThe notes have about a hundred words.` } },
  ],
};

for (const [name, script] of Object.entries(SCRIPTS)) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "metier-record-")));
  try {
    const [home, cwd] = [join(folder, "home"), join(folder, "project")];
    mkdirSync(home);
    mkdirSync(cwd);
    writeTourProject(cwd);
    const models = { default: createScriptModel(script) };
    const metier = await createMetier({ home, cwd, models, bundled: true, trust: "grants" });
    const record = join(folder, "recording.jsonl");
    const result = await metier.run({
      skill: TOUR_SKILL,
      message: TOUR_TASK,
      source: "user",
      approve: "all",
      record,
    });
    if (result.status !== "completed") throw new Error(`${name}: ${result.error?.message ?? result.status}`);
    const text = readFileSync(record, "utf8").replaceAll(folder, "/tour").replaceAll(ROOT, "/metier");
    mkdirSync(join(ROOT, "packages/metier/recordings"), { recursive: true });
    writeFileSync(join(ROOT, "packages/metier/recordings", `${name}.jsonl`), text);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
