import { mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { type DataOwner, dataFolders, makeDataFolders } from "../../src/run/kept-files.ts";

const PDF = {
  name: "pdf",
  scope: "user",
  directory: "/skills/pdf",
  location: "/skills/pdf/SKILL.md",
} as const;
const MINE: DataOwner = { skill: PDF, trust: "trusted" };
const at = (owner: DataOwner): string => dataFolders({ data: "/data" }, owner).own;

describe("the data folder of a skill", () => {
  test("has the name of a trusted skill, and a folder for each user", () => {
    expect(dataFolders({ data: "/data" }, MINE)).toEqual({
      own: "/data/pdf/own",
      global: "/data/pdf/global",
    });
    expect(at({ ...MINE, user: "ann" })).toBe("/data/pdf/user-ann");
  });

  test("is another one for every user, however alike their names are", () => {
    const users = [
      "ann",
      "Ann",
      "ANN",
      "ann ",
      "../ann",
      "an/n",
      "",
      ".",
      "..",
      "own",
      "global",
      "ann\0",
      "\ud800",
    ];
    const folders = users.map((user) => at({ ...MINE, user }).toLowerCase());
    expect(new Set(folders).size).toBe(users.length);
    for (const folder of folders) expect(folder).toMatch(/^\/data\/pdf\/user-[a-z0-9@._-]+$/);
  });

  test("is another one for an untrusted skill and for one of a project, by where they lie", () => {
    const untrusted: DataOwner = { skill: PDF, trust: "untrusted" };
    const project: DataOwner = { skill: { ...PDF, scope: "project" }, trust: "trusted" };
    const elsewhere: DataOwner = { skill: { ...PDF, directory: "/other/pdf" }, trust: "untrusted" };
    const given: DataOwner = { skill: { ...PDF, directory: "", location: "" }, trust: "untrusted" };
    const folders = [MINE, untrusted, elsewhere, given].map(at);
    expect(new Set(folders).size).toBe(4);
    expect(at(project)).toBe(at(untrusted));
    const key = at(untrusted).split("/")[2] ?? "";
    expect(at({ ...MINE, skill: { ...PDF, name: key } })).not.toBe(at(untrusted));
  });

  test("of an installed skill outlasts its updates, and is another one for each lock and each source", () => {
    const installed = (lock: string, digest: string, origin = "https://a.example/r.git#"): DataOwner => ({
      skill: {
        name: "pdf",
        scope: "installed",
        directory: `/store/pdf@${digest}`,
        location: `/store/pdf@${digest}/SKILL.md`,
        locked: { lock, name: "pdf", origin, digest },
      },
      trust: "untrusted",
    });
    expect(at(installed("/home/metier.lock", "1"))).toBe(at(installed("/home/metier.lock", "2")));
    expect(at(installed("/home/metier.lock", "1"))).not.toBe(at(installed("/project/metier.lock", "1")));
    const stranger = installed("/home/metier.lock", "1", "https://b.example/r.git#");
    expect(at(installed("/home/metier.lock", "1"))).not.toBe(at(stranger));
    expect(at({ ...installed("/home/metier.lock", "1"), trust: "trusted" })).toBe(at(MINE));
  });

  test("is the same for a skill that is reached by a link", () => {
    const root = temporaryFolder();
    mkdirSync(join(root, "real"));
    symlinkSync("real", join(root, "link"));
    const [real, link] = ["real", "link"].map((name) =>
      at({ skill: { ...PDF, directory: join(root, name) }, trust: "untrusted" }),
    );
    expect(link).toBe(real);
  });

  test("is made for its owner alone, and where it cannot be, that is said", () => {
    const root = temporaryFolder();
    const { folders } = makeDataFolders({ data: join(root, "data") }, MINE);
    expect(statSync(folders?.own ?? "").mode & 0o777).toBe(0o700);
    writeFileSync(join(root, "file"), "");
    const { folders: none, diagnostics } = makeDataFolders({ data: join(root, "file") }, MINE);
    expect([none, diagnostics[0]?.code]).toEqual([undefined, "data.folder-missing"]);
  });
});
