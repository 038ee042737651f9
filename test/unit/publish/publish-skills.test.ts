import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identifyFolder } from "@metier/skills/trust";
import { describe, expect, test } from "vitest";
import { COMPILED_CODE } from "../../support/compiled-code.ts";
import { createInstallWorld, type InstallWorld, resultOf } from "../../support/installing.ts";
import { startSite } from "../../support/loopback-site.ts";
import { PLACE, published, publishFault, siteFiles, TOKEN, writeSkills } from "../../support/publishing.ts";
import { ROOT } from "../../support/repository.ts";
import { skill } from "../../support/world.ts";

function serve(world: InstallWorld): ReturnType<typeof startSite> {
  return startSite((request, response) => {
    const file = join(world.project, "site", request.url ?? "");
    if (existsSync(file)) response.writeHead(200).end(readFileSync(file));
    else response.writeHead(404).end();
  });
}

describe("publishing", () => {
  test("writes an index of version 0.2.0 with one file or archive for each skill, by name", async () => {
    const world = createInstallWorld();
    writeSkills(world);
    const report = await published(world);
    const index = JSON.parse(readFileSync(report.index, "utf8"));
    expect(report.index).toBe(join(world.project, "site", PLACE, "index.json"));
    expect(index.$schema).toBe("https://schemas.agentskills.io/discovery/0.2.0/schema.json");
    expect(index.skills).toEqual([
      {
        name: "pdf",
        type: "skill-md",
        description: "The pdf skill.",
        url: expect.stringMatching(/^pdf-[0-9a-f]{16}\.md$/),
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      },
      {
        name: "report",
        type: "archive",
        description: "The report skill.",
        url: expect.stringMatching(/^report-[0-9a-f]{16}\.tar\.gz$/),
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      },
    ]);
    expect(existsSync(join(world.project, "site/.well-known/skills"))).toBe(false);
  });

  test("gives a site from which `install` gets the same content", async () => {
    const world = createInstallWorld();
    writeSkills(world);
    const report = await published(world);
    const site = await serve(world);
    const metier = await world.metier();
    const source = `http://127.0.0.1:${site.port}`;
    const { installed } = resultOf(await metier.install({ source, skills: ["pdf", "report"], yes: true }));
    const digests = Object.fromEntries(installed.map(({ name, digest }) => [name, digest]));
    for (const name of ["pdf", "report"]) {
      const identity = identifyFolder(join(world.project, "skills", name));
      expect(identity).toMatchObject({ ok: true, value: { digest: digests[name] } });
      expect(report.skills.find((each) => each.name === name)?.identity).toBe(digests[name]);
    }
  });

  test("gives the same bytes again, whatever the times, the umask, the order and the folder", async () => {
    const world = createInstallWorld();
    writeSkills(world);
    await published(world);
    const other = createInstallWorld();
    writeSkills(other, "else where/skills");
    utimesSync(join(other.project, "else where/skills/report/SKILL.md"), 1, 1);
    const asked = ["skills/report", "skills/pdf"];
    const program = [process.execPath, join(ROOT, "packages/cli/src/main.ts")];
    const args = ["publish", ...asked, "--well-known", "../site", "--home", other.home];
    execFileSync("/bin/sh", ["-c", 'umask 077 && exec "$@"', "sh", ...program, ...args], {
      cwd: join(other.project, "else where"),
      env: { ...COMPILED_CODE, PATH: process.env.PATH, TZ: "Asia/Tokyo", LANG: "C" },
    });
    expect(siteFiles(other)).toEqual(siteFiles(world));
  });

  test("takes skills by name, and completes addresses with the address of the site", async () => {
    const world = createInstallWorld();
    world.write({ "home/.metier/skills/pdf/SKILL.md": skill("pdf") });
    const report = await published(world, { skills: ["pdf"], baseUrl: "https://example.com/docs" });
    expect(report.skills[0]?.url).toMatch(
      /^https:\/\/example\.com\/docs\/\.well-known\/agent-skills\/pdf-[0-9a-f]{16}\.md$/,
    );
  });

  test.each([
    "ftp://example.com",
    "example.com",
    "http://example.com",
    "https://a:b@example.com",
    "https://example.com/?x",
  ])("refuses the address %s of a site", async (baseUrl) => {
    const world = createInstallWorld();
    writeSkills(world);
    expect(await publishFault(world, { baseUrl })).toMatchObject({ code: "publish.usage" });
    expect(existsSync(join(world.project, "site"))).toBe(false);
  });

  test("leaves out what is no part of a skill, and lists it", async () => {
    const world = createInstallWorld();
    world.write({
      "project/skills/pdf/SKILL.md": skill("pdf"),
      "project/skills/pdf/.git/config": "x",
      "project/skills/pdf/SKILL.md~": "x",
      "project/skills/pdf/evals/evals.json": "{}",
      "project/skills/pdf/.env": `TOKEN=${TOKEN}\n`,
    });
    const report = await published(world);
    expect(report.skills[0]).toMatchObject({ type: "skill-md" });
    expect(report.skills[0]?.leftOut.map(({ path }) => path)).toEqual([
      ".env",
      ".git/",
      "SKILL.md~",
      "evals/",
    ]);
  });

  test("packs a lone file that may be executed, so that the bit is not lost", async () => {
    const world = createInstallWorld();
    world.write({ "project/skills/pdf/SKILL.md": skill("pdf") });
    chmodSync(join(world.project, "skills/pdf/SKILL.md"), 0o755);
    expect((await published(world)).skills[0]).toMatchObject({ type: "archive" });
  });

  test("writes nothing in a dry run", async () => {
    const world = createInstallWorld();
    writeSkills(world);
    expect((await published(world, { dryRun: true })).skills).toHaveLength(2);
    expect(existsSync(join(world.project, "site"))).toBe(false);
  });
});

describe("publishing again", () => {
  test("replaces the index, and removes the files of before that are still as they were", async () => {
    const world = createInstallWorld();
    writeSkills(world);
    const first = await published(world);
    rmSync(join(world.project, "skills/report"), { recursive: true });
    world.write({ "project/skills/pdf/SKILL.md": skill("pdf", "", "Other words.") });
    const second = await published(world);
    expect(second.removed).toEqual(first.skills.map(({ url }) => url).sort());
    expect(Object.keys(siteFiles(world))).toEqual([
      ".metier-published.json",
      "index.json",
      second.skills[0]?.url,
    ]);
  });

  test("keeps a file of before that someone has changed, and files of others", async () => {
    const world = createInstallWorld();
    writeSkills(world);
    const first = await published(world);
    const [pdf] = first.skills;
    const folder = join(world.project, "site", PLACE);
    writeFileSync(join(folder, pdf?.url ?? ""), "changed");
    writeFileSync(join(folder, "README.txt"), "mine");
    const second = await published(world, { skills: ["skills/report"] });
    expect(second.kept).toEqual([pdf?.url]);
    expect(readFileSync(join(folder, pdf?.url ?? ""), "utf8")).toBe("changed");
    expect(readFileSync(join(folder, "README.txt"), "utf8")).toBe("mine");
  });

  test("does not replace an index of someone else, unless it is told to", async () => {
    const world = createInstallWorld();
    writeSkills(world);
    world.write({ [`project/site/${PLACE}/index.json`]: "{}" });
    expect(await publishFault(world)).toMatchObject({ code: "publish.taken" });
    expect(Object.keys(siteFiles(world))).toEqual(["index.json"]);
    await published(world, { force: true });
    expect(readFileSync(join(world.project, "site", PLACE, "index.json"), "utf8")).toContain('"pdf"');
  });

  test("does not believe a record that names files which it never writes", async () => {
    const world = createInstallWorld();
    writeSkills(world);
    const victim = { "../../../victim.md": "x", "notes.md": "x" };
    world.write({
      "project/victim.md": "x",
      [`project/site/${PLACE}/notes.md`]: "x",
      [`project/site/${PLACE}/.metier-published.json`]: JSON.stringify({
        version: 1,
        files: Object.fromEntries(
          Object.keys(victim).map((name) => [
            name,
            "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
          ]),
        ),
      }),
    });
    expect((await published(world)).removed).toEqual([]);
    expect(existsSync(join(world.project, "victim.md"))).toBe(true);
    expect(existsSync(join(world.project, "site", PLACE, "notes.md"))).toBe(true);
  });
});
