/** A command that swaps folders for links while a file tool works on them, as fast as it can, gains nothing. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { listFolder, openForReading, writeFileInWorld } from "@metier/sandbox";
import { expect, onTestFinished, test } from "vitest";
import { createRunFolders, type RunFolders } from "../support/run-world.ts";

const ATTEMPTS = 500;

/** Swaps `work/way` between a folder and a link to `target`; `stop` says whether it did so to the end. */
async function startSwapping(folders: RunFolders, target: string): Promise<{ stop(): Promise<boolean> }> {
  mkdirSync(join(folders.work, "way", "in"), { recursive: true });
  const program = `
    const fs = require("node:fs");
    process.chdir(${JSON.stringify(folders.work)});
    fs.symlinkSync(${JSON.stringify(target)}, "link");
    console.log("ready");
    let count = 0;
    // The gate may have made a folder of that name meanwhile.
    const place = (from) => {
      for (;;) {
        try { return fs.renameSync(from, "way"); } catch { fs.renameSync("way", "trash" + count++); }
      }
    };
    for (;;) { fs.renameSync("way", "kept"); place("link"); fs.renameSync("way", "link"); place("kept"); }`;
  const swapper = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(swapper, "exit");
  onTestFinished(() => void swapper.kill("SIGKILL"));
  await once(swapper.stdout, "data");
  return {
    async stop() {
      swapper.kill("SIGKILL");
      const [, signal] = await exited;
      return signal === "SIGKILL";
    },
  };
}

test("nothing is written into a folder that is read-only or outside", async () => {
  for (const place of ["project", "other"]) {
    const folders = createRunFolders();
    mkdirSync(join(folders.root, place, "in"), { recursive: true });
    const world = folders.world();
    const swapper = await startSwapping(folders, join(folders.root, place));
    let written = 0;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const path = join(folders.work, "way", "in", `${attempt}`, "file");
      if (writeFileInWorld(world, path, "x").ok) written += 1;
    }
    expect(await swapper.stop()).toBe(true);
    expect(written).toBeGreaterThan(0);
    expect(readdirSync(join(folders.root, place, "in"))).toEqual([]);
  }
});

test("nothing hidden is read or listed", async () => {
  const folders = createRunFolders();
  folders.write({ "other/in/file": "secret" });
  const world = folders.world();
  const swapper = await startSwapping(folders, join(folders.root, "other"));
  const seen = new Set<string>();
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const opened = openForReading(world, join(folders.work, "way", "in", "file"));
    if (opened.ok) {
      seen.add(readFileSync(opened.file.descriptor, "utf8"));
      closeSync(opened.file.descriptor);
    }
    const listed = listFolder(world, join(folders.work, "way", "in"));
    if (listed.ok) for (const { name } of listed.entries) seen.add(name);
  }
  expect(await swapper.stop()).toBe(true);
  expect([...seen]).toEqual([]);
});
