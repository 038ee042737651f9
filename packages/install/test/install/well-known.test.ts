import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { tarOf, zipOf } from "../../../../test/support/archives.ts";
import { faultFrom, fetchedFrom, readFolder } from "../../../../test/support/git-fetching.ts";
import { type Site, startSite } from "../../../../test/support/loopback-site.ts";
import { skillText } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { readSkillIndex } from "../../src/install/well-known/skill-index.ts";

const SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
const INDEX = "/.well-known/agent-skills/index.json";
const OLD_INDEX = "/.well-known/skills/index.json";

const PDF = skillText("name: pdf\ndescription: Reads PDF files.");
const CSV = gzipSync(
  tarOf(
    { name: "SKILL.md", content: skillText("name: csv\ndescription: Reads CSV.") },
    { name: "run.py", content: "1" },
  ),
);
const XML = zipOf([{ name: "xml/SKILL.md", content: skillText("name: xml\ndescription: Reads XML.") }]);

function serve(answers: Readonly<Record<string, string | Buffer>>): Promise<Site> {
  return startSite((request, response) => {
    const answer = answers[request.url ?? ""];
    response.writeHead(answer === undefined ? 404 : 200).end(answer);
  });
}

function entry(
  name: string,
  type: string,
  url: string,
  content: string | Buffer,
): Readonly<Record<string, string>> {
  const digest = `sha256:${createHash("sha256").update(content).digest("hex")}`;
  return { name, type, description: `About ${name}.`, url, digest };
}

const SKILLS = [
  entry("pdf", "skill-md", "pdf/SKILL.md", PDF),
  entry("csv", "archive", "/files/csv.tar.gz", CSV),
  entry("xml", "archive", "xml.zip", XML),
];
const FILES = {
  "/.well-known/agent-skills/pdf/SKILL.md": PDF,
  "/files/csv.tar.gz": CSV,
  "/.well-known/agent-skills/xml.zip": XML,
};

function indexOf(skills: readonly object[], $schema: string = SCHEMA): string {
  return JSON.stringify({ $schema, skills });
}

describe("a site with an index", () => {
  verifies(192, "gives all its skills, each in a folder of its name", async () => {
    const site = await serve({ ...FILES, [INDEX]: indexOf(SKILLS) });
    const source = await fetchedFrom(`http://127.0.0.1:${site.port}`);
    expect(Object.keys(readFolder(source.folder)).sort()).toEqual([
      "csv/SKILL.md",
      "csv/run.py",
      "pdf/SKILL.md",
      "xml/SKILL.md",
    ]);
    expect(source.resolved).toMatch(/^sha256:/);
    expect(source.diagnostics).toEqual([]);
  });

  test("sends only the skills that are wanted", async () => {
    const site = await serve({ ...FILES, [INDEX]: indexOf(SKILLS) });
    const source = await fetchedFrom(`http://127.0.0.1:${site.port}${INDEX}`, { wanted: ["csv"] });
    expect(Object.keys(readFolder(source.folder)).sort()).toEqual(["csv/SKILL.md", "csv/run.py"]);
    expect(site.requests).toEqual([INDEX, "/files/csv.tar.gz"]);
  });

  test("of the older form is read too", async () => {
    const site = await serve({
      [OLD_INDEX]: JSON.stringify({
        skills: [{ name: "pdf", description: "Reads PDF.", files: ["SKILL.md", "docs/a b.md"] }],
      }),
      "/.well-known/skills/pdf/SKILL.md": PDF,
      "/.well-known/skills/pdf/docs/a%20b.md": "more",
    });
    const source = await fetchedFrom(`http://127.0.0.1:${site.port}`);
    expect(readFolder(source.folder)).toEqual({ "pdf/SKILL.md": PDF, "pdf/docs/a b.md": "more" });
    expect(site.requests.slice(0, 2)).toEqual([INDEX, OLD_INDEX]);
  });

  test("whose skills are not what it announces is refused", async () => {
    const site = await serve({ ...FILES, "/files/csv.tar.gz": XML, [INDEX]: indexOf(SKILLS) });
    const fault = await faultFrom(`http://127.0.0.1:${site.port}`);
    expect(fault).toMatchObject({ code: "source.damaged" });
    expect(fault.message).toContain("`csv` does not match the index");
  });

  test("that does not list what is wanted says what it lists", async () => {
    const site = await serve({ [INDEX]: indexOf(SKILLS) });
    const fault = await faultFrom(`http://127.0.0.1:${site.port}`, { wanted: ["doc"] });
    expect(fault).toMatchObject({ code: "source.not_found", hint: "It lists `pdf`, `csv`, `xml`." });
  });

  test("with hostile archives, or more than may be installed in all, is refused", async () => {
    const evil = tarOf({ name: "../evil.txt", content: "x" });
    const site = await serve({
      ...FILES,
      "/evil.tar": evil,
      [INDEX]: indexOf([entry("evil", "archive", "/evil.tar", evil)]),
    });
    const fault = await faultFrom(`http://127.0.0.1:${site.port}`);
    expect(fault).toMatchObject({ code: "source.unsafe" });
    expect(fault.message).toContain("`evil` from ");
    const full = await serve({ ...FILES, [INDEX]: indexOf(SKILLS) });
    const limits = { files: 2 };
    expect(await faultFrom(`http://127.0.0.1:${full.port}`, { limits })).toMatchObject({
      code: "source.limited",
    });
  });

  test("reaches no other server of this machine", async () => {
    const other = await serve({ "/secret.zip": XML });
    const skill = entry("xml", "archive", `http://127.0.0.1:${other.port}/secret.zip`, XML);
    const site = await serve({ [INDEX]: indexOf([skill]) });
    expect(await faultFrom(`http://127.0.0.1:${site.port}`)).toMatchObject({ code: "source.refused" });
    expect(other.requests).toEqual([]);
  });

  test("that has none, or one that cannot be used, is explained", async () => {
    const none = await serve({});
    expect(await faultFrom(`http://127.0.0.1:${none.port}`)).toMatchObject({ code: "source.not_found" });
    const page = await serve({ [INDEX]: "<html>" });
    expect(await faultFrom(`http://127.0.0.1:${page.port}`)).toMatchObject({ code: "source.damaged" });
  });
});

describe("an index", () => {
  const read = (index: unknown) => readSkillIndex(JSON.stringify(index), `https://site.example${INDEX}`);

  test("of a form that is not known is not read", () => {
    const reading = read({
      $schema: "https://schemas.agentskills.io/discovery/9/schema.json",
      skills: SKILLS,
    });
    expect(reading).toMatchObject({ ok: false });
  });

  test.each([
    [{ ...SKILLS[0], name: "../up" }, /not a valid skill name/],
    [{ ...SKILLS[0], description: 1 }, /no description/],
    [{ ...SKILLS[0], type: "script" }, /type `script`/],
    [{ ...SKILLS[0], digest: "md5:00" }, /no `sha256:…` digest/],
    [{ ...SKILLS[0], url: "javascript:alert(1)" }, /no URL/],
    [SKILLS[1], /listed twice/],
    ["text", /not an object/],
  ])("leaves out %j and says why", (wrong, why) => {
    const reading = read({ $schema: SCHEMA, skills: [SKILLS[1], wrong] });
    if (!reading.ok) throw new Error(reading.refusal.message);
    expect(reading.value.skills.map(({ name }) => name)).toEqual(["csv"]);
    expect(reading.value.faults).toHaveLength(1);
    expect(reading.value.faults[0]).toMatch(why);
  });

  test.each(["../../secret", "/etc/passwd", "a\\b"])("of the older form may not name the file %s", (file) => {
    const reading = read({ skills: [{ name: "pdf", description: "x", files: ["SKILL.md", file] }] });
    expect(reading).toMatchObject({
      ok: true,
      value: { skills: [], faults: [expect.stringContaining("invalid file")] },
    });
  });
});
