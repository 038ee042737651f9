import { createHash } from "node:crypto";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { tarOf } from "../../../../test/support/archives.ts";
import { createInstallWorld, resultOf, skillFiles } from "../../../../test/support/installing.ts";
import { startSite } from "../../../../test/support/loopback-site.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { skill } from "../../../../test/support/world.ts";
import { findNpm } from "../../src/install/npm/npm-registry.ts";
import type { OutdatedOutcome, OutdatedSkill } from "../../src/install/outdated.ts";

interface Asked {
  outdated(): Promise<OutdatedOutcome>;
}

async function look(metier: Asked): Promise<Readonly<Record<string, OutdatedSkill>>> {
  const outcome = await metier.outdated();
  if (!outcome.ok) throw new Error(outcome.fault.message);
  return Object.fromEntries(outcome.skills.map((one) => [one.name, one]));
}

async function statuses(metier: Asked): Promise<Record<string, string>> {
  return Object.fromEntries(Object.entries(await look(metier)).map(([name, { status }]) => [name, status]));
}

/** A site whose answers can be changed; what is no longer there is missing. */
async function openSite(): Promise<{
  origin: string;
  answers: Map<string, string | Buffer>;
  asked(): number;
}> {
  const answers = new Map<string, string | Buffer>();
  const site = await startSite((request, response) => {
    const answer = answers.get(request.url ?? "");
    response.writeHead(answer === undefined ? 404 : 200).end(answer);
  });
  return { origin: `http://127.0.0.1:${site.port}`, answers, asked: () => site.requests.length };
}

const archive = (body: string): Buffer =>
  gzipSync(tarOf({ name: "packed/SKILL.md", content: skill("packed", "", body) }));

function indexOf(body: string): string {
  const digest = `sha256:${createHash("sha256")
    .update(skill("listed", "", body))
    .digest("hex")}`;
  const entry = { name: "listed", type: "skill-md", description: "Listed.", url: "/listed.md", digest };
  return JSON.stringify({
    $schema: "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
    skills: [entry],
  });
}

describe("outdated", () => {
  verifies("case 107", "compares downloads and indexes by what is in them", async () => {
    const { origin, answers } = await openSite();
    const publish = (body: string): void => {
      answers.set("/x.tar.gz", archive(body));
      answers.set("/single/SKILL.md", skill("single", "", body));
      answers.set("/.well-known/agent-skills/index.json", indexOf(body));
      answers.set("/listed.md", skill("listed", "", body));
    };
    publish("First.");
    const world = createInstallWorld();
    const metier = await world.metier();
    for (const path of ["/x.tar.gz", "/single/SKILL.md", ""]) {
      resultOf(await metier.install({ source: `${origin}${path}` }));
    }
    expect(await statuses(metier)).toEqual({ packed: "current", single: "current", listed: "current" });
    publish("Second.");
    const found = await look(metier);
    expect(Object.values(found).map(({ status }) => status)).toEqual(["outdated", "outdated", "outdated"]);
    expect(found.packed?.available?.digest).not.toBe(found.packed?.installed.digest);
    expect(await metier.update()).toMatchObject({ ok: true, skipped: [] });
    expect(await statuses(metier)).toEqual({ packed: "current", single: "current", listed: "current" });
    answers.delete("/x.tar.gz");
    const { code, json } = await world.cli("outdated", "packed", "--json");
    expect([code, json.skills]).toMatchObject([1, [{ status: "missing", code: "source.not_found" }]]);
  });

  verifies("case 101", "asks a source once for all of its skills, and a pinned one not at all", async () => {
    const world = createInstallWorld();
    const both = (body: string): Record<string, string> => ({
      ...skillFiles("a", "one", body),
      ...skillFiles("b", "two", body),
    });
    const repository = world.repository(both("First."));
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url, skills: ["*"] }));
    repository.commit({ ...both("First."), "b/SKILL.md": skill("two", "version: 1.1.0", "Second.") });
    const found = await look(metier);
    expect([found.one?.status, found.two?.status]).toEqual(["current", "outdated"]);
    expect(found.two?.available).toMatchObject({
      version: "1.1.0",
      resolved: repository.git("rev-parse", "HEAD"),
    });
    const { code, stdout } = await world.cli("outdated");
    expect([code, stdout]).toEqual([1, expect.stringMatching(/two\s+outdated\s+[0-9a-f]{10}\s+1\.1\.0 \(/)]);
    expect((await world.cli("outdated", "one")).code).toBe(0);
    expect(world.quarantined()).toEqual([]);
  });

  test("needs nothing to be installed", async () => {
    const { code, stdout } = await createInstallWorld().cli("outdated");
    expect([code, stdout]).toEqual([0, "No skills are installed here.\n"]);
  });

  test("is cancelled by its signal", async () => {
    const world = createInstallWorld();
    world.write({ "mine/SKILL.md": skill("mine") });
    const metier = await world.metier();
    resultOf(await metier.install({ source: join(world.root, "mine") }));
    expect(await metier.outdated({ signal: AbortSignal.abort() })).toMatchObject({
      ok: false,
      fault: { code: "cancelled" },
    });
  });
});

describe.skipIf(findNpm(process.env) === undefined)("an npm package (needs npm)", () => {
  test("is outdated when its range has a newer version, and pinned when it was asked for by version", async () => {
    const { origin, answers, asked } = await openSite();
    const publish = (...versions: readonly string[]): void => {
      const entries = versions.map((version) => {
        const tarball = gzipSync(
          tarOf(
            { name: "package/package.json", content: JSON.stringify({ name: "tools", version }) },
            { name: "package/skills/pdf/SKILL.md", content: skill("pdf", `version: ${version}`) },
          ),
        );
        answers.set(`/tools-${version}.tgz`, tarball);
        const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
        return [version, { dist: { tarball: `${origin}/tools-${version}.tgz`, integrity } }] as const;
      });
      const latest = versions.at(-1);
      answers.set(
        "/tools",
        JSON.stringify({ "dist-tags": { latest }, versions: Object.fromEntries(entries) }),
      );
    };
    publish("1.0.0");
    const world = createInstallWorld({ environment: { npm_config_registry: `${origin}/` } });
    const metier = await world.metier();
    resultOf(await metier.install({ source: "npm:tools@^1" }));
    resultOf(await metier.install({ source: "npm:tools@1.0.0", name: "fixed" }));
    publish("1.0.0", "1.1.0", "2.0.0");
    expect(await statuses(metier)).toEqual({ fixed: "pinned", pdf: "outdated" });
    expect(await metier.update()).toMatchObject({
      updated: [{ name: "pdf", from: { version: "1.0.0" }, to: { version: "1.1.0" } }],
    });
    const before = asked();
    expect(await statuses(metier)).toEqual({ fixed: "pinned", pdf: "current" });
    expect(asked()).toBe(before + 1);
  });
});
