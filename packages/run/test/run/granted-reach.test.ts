import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { SkillManifest, Trust } from "@metier/skills";
import type { Reach } from "@metier/skills/config";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { grantReach, reportMissing } from "../../src/run/granted-reach.ts";

interface Case {
  /** What the manifest has. */
  readonly declared?: Partial<Reach>;
  /** `[sandbox]` */
  readonly all?: Partial<Reach>;
  /** `[skills.pdf.sandbox]` */
  readonly own?: Partial<Reach>;
  readonly trust?: Trust;
  readonly caller?: readonly string[];
}

const NOTHING: Reach = { network: [], read: [], write: [] };

/** Below a fresh folder with `home`, `project` and `data`. */
function createPlace() {
  const root = temporaryFolder();
  for (const name of ["home", "project/reports", "data/public"])
    mkdirSync(join(root, name), { recursive: true });
  const grant = ({ declared, all, own, trust = "trusted", caller }: Case) =>
    grantReach({
      trust,
      config: {
        sandbox: { ...NOTHING, ...all },
        skills: { settings: { pdf: { env: {}, ...(own && { sandbox: own }) } } },
      } as unknown as Parameters<typeof grantReach>[0]["config"],
      skill: {
        name: "pdf",
        manifest: { ...(declared && { sandbox: { ...NOTHING, ...declared } }) } as SkillManifest,
      },
      cwd: join(root, "project"),
      places: { home: join(root, "home") },
      caller,
    });
  return { root, grant, at: (path: string) => join(root, path) };
}

test("what is declared and granted holds, the narrower of both", () => {
  const { grant, at } = createPlace();
  const all = { network: ["*.example.com"], read: [at("data/public")], write: [at("project")] };
  const declared = { network: ["a.example.com", "b.test"], read: [at("data")], write: ["./reports", "~/x"] };
  const { granted, missing } = grant({ declared, all });
  expect(granted).toEqual({
    network: ["a.example.com"],
    read: [at("data/public")],
    write: [at("project/reports")],
  });
  expect(missing).toEqual({
    network: ["b.test"],
    read: [at("data"), at("home/x")],
    write: [at("home/x")],
  });
});

test("a skill's own table declares and grants for it, and for nobody else", () => {
  const { grant, at } = createPlace();
  const own = { network: ["api.test"], read: [at("data")] };
  const declared = { network: ["b.test"], write: [at("data")] };
  expect(grant({ declared, own }).granted).toEqual({ network: ["api.test"], read: [at("data")], write: [] });
  expect(grant({ declared, own }).declared).toEqual({
    network: ["b.test", "api.test"],
    read: [at("data")],
    write: [at("data")],
  });
});

test("a skill that declares nothing has what the config grants", () => {
  const { grant, at } = createPlace();
  const all = { network: ["a.test"], read: [at("data")] };
  const { granted, missing } = grant({ all, own: { write: [at("project")] } });
  expect(granted).toEqual({ network: ["a.test"], read: [at("data")], write: [at("project")] });
  expect(missing).toEqual(NOTHING);
  expect(grant({ all, declared: {} }).granted).toEqual(NOTHING);
});

verifies(183, "an untrusted skill has nothing, whatever is granted", () => {
  const { grant, at } = createPlace();
  const all = { network: ["*"], read: [at("data")], write: [at("data")] };
  for (const declared of [undefined, all]) {
    const { granted, missing } = grant({ all, own: all, trust: "untrusted", ...(declared && { declared }) });
    expect(granted).toEqual(NOTHING);
    expect(missing).toEqual(NOTHING); // That it is withheld is said elsewhere.
  }
});

test("who may write may read, and a caller without a domain passes none on", () => {
  const { grant, at } = createPlace();
  expect(grant({ all: { write: [at("data")] }, declared: { read: [at("data/public")] } }).granted).toEqual({
    ...NOTHING,
    read: [at("data/public")],
  });
  expect(grant({ all: { network: ["a.test", "b.test"] }, caller: ["b.test"] }).granted.network).toEqual([
    "b.test",
  ]);
});

test("paths overlap by where they lead, also those that are not there yet", () => {
  const { grant, at } = createPlace();
  symlinkSync(at("data"), at("link"));
  symlinkSync(at("home"), at("data/out"));
  const all = { read: [at("link")] };
  expect(grant({ all, declared: { read: [at("data/public")] } }).granted.read).toEqual([at("data/public")]);
  expect(grant({ all, declared: { read: [at("link/new")] } }).granted.read).toEqual([at("data/new")]);
  const out = grant({ all, declared: { read: [at("data/out")] } });
  expect(out.granted.read).toEqual([]);
  expect(out.missing.read).toEqual([at("data/out")]);
});

test("what is missing is said once, with what to write where; what a run sees anyway is not missing", () => {
  const { grant, at } = createPlace();
  const declared = { network: ["b.test"], read: ["./reports", at("data")], write: ["./reports"] };
  const { missing } = grant({ declared });
  const skill = { name: "my.pdf", location: "/s/SKILL.md" };
  const folders = { cwd: at("project"), workDir: at("work"), masked: [], protectedPaths: [] };
  const seen = { ...folders, readable: [at("project")], writable: [] };
  expect(reportMissing(skill, missing, seen, "/h/config.toml")).toEqual([
    {
      code: "sandbox.not-granted",
      severity: "warning",
      path: "/s/SKILL.md",
      message: `\`my.pdf\` declares more than the config grants: \`sandbox.network\` \`b.test\`; \`sandbox.read\` \`${at("data")}\`; \`sandbox.write\` \`${at("project/reports")}\`.`,
      hint: `To grant it, add under \`[skills."my.pdf".sandbox]\` in \`/h/config.toml\`: \`network = ["b.test"]\`, \`read = ["${at("data")}"]\`, \`write = ["${at("project/reports")}"]\`.`,
    },
  ]);
  const root = at("").replace(/\/$/, "");
  const all = { ...folders, readable: [root], writable: [root] };
  expect(reportMissing(skill, { ...missing, network: [] }, all, "")).toEqual([]);
  const hidden = { ...all, masked: [at("data")] };
  expect(reportMissing(skill, { ...missing, network: [] }, hidden, "")).toMatchObject([
    { message: expect.stringContaining(`\`sandbox.read\` \`${at("data")}\``) },
  ]);
});
