import { join } from "node:path";
import { expect, test } from "vitest";
import { createRunFolders } from "../../../../test/support/run-world.ts";
import { programTool } from "../../../../test/support/scripted-runs.ts";
import { createUseNotes } from "../../src/run/live-run.ts";

const tool = (name: string, effect: "read" | "write" | "network" = "read") => programTool(name, "", effect);

test("lists what the file tools reached outside of the run's own folders, and all hosts", () => {
  const folders = createRunFolders();
  const world = folders.world();
  folders.write({ "project/a.md": "", "project/b/c.md": "" });
  const notes = createUseNotes();
  notes.note(tool("read_file"), { path: "a.md" }, world);
  notes.note(tool("read_file"), { path: "./b/../a.md" }, world);
  notes.note(tool("list_files"), {}, world);
  notes.note(tool("write_file", "write"), { path: join(world.workDir, "x") }, world);
  notes.note(tool("write_file", "write"), { path: "b/c.md" }, world);
  notes.note(tool("read_file"), { path: join(folders.skill, "SKILL.md") }, world);
  notes.note(tool("read_skill_file"), { path: "reference.md" }, world);
  notes.note(tool("web_fetch", "network"), { url: "https://docs.example.com/a" }, world);
  notes.note(tool("web_fetch", "network"), { url: "no address" }, world);
  expect(notes.list(["api.example.com", "docs.example.com"])).toEqual({
    network: ["api.example.com", "docs.example.com"],
    read: [folders.project, join(folders.project, "a.md")],
    write: [join(folders.project, "b/c.md")],
  });
  expect(notes.diagnostics("/s")).toEqual([]);
});

test("is bounded, and says what it leaves out", () => {
  const world = createRunFolders().world();
  const notes = createUseNotes();
  for (let index = 0; index < 250; index++) notes.note(tool("read_file"), { path: `f${index}` }, world);
  expect(notes.list([]).read).toHaveLength(100);
  expect(notes.diagnostics("/s")).toMatchObject([
    { code: "sandbox.use-cut", message: "`sandbox.used.read` lists the first 100 of 250." },
  ]);
});
