/** What is installed from a repository was scanned, all of it, although scanning begins while it still comes. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { digestBytes } from "@metier/base/digest";
import { expect, test } from "vitest";
import { makeNoise, serve, treeOf } from "../../../../../test/support/ahead-fetching.ts";
import type { Repository } from "../../../../../test/support/git-repository.ts";
import { createInstallWorld, resultOf, STEALING } from "../../../../../test/support/installing.ts";
import { temporaryFolder, writeTree } from "../../../../../test/support/temporary.ts";
import { skill } from "../../../../../test/support/world.ts";
import { openFetchedScans } from "../../../src/install/scan-fetched.ts";

type Entry = readonly [mode: string, name: string, id: string];

/** Written as it is, whatever git thinks of it. */
function tree(repository: Repository, entries: readonly Entry[]): string {
  const path = join(temporaryFolder(), "object");
  writeFileSync(path, treeOf(entries));
  return repository.git("hash-object", "-t", "tree", "-w", "--literally", path);
}

function blob(repository: Repository, content: string): string {
  const path = join(temporaryFolder(), "object");
  writeFileSync(path, content);
  return repository.git("hash-object", "-w", path);
}

/** The script that every scan blocks comes when the skill's folder seems to be complete. */
const LATE: Readonly<Record<string, (put: Put) => readonly Entry[]>> = {
  "a second folder of the same name": ({ skillFile, script, folder }) => [
    ["40000", "evil", folder([skillFile])],
    ["40000", "evil", folder([script])],
  ],
  "a second folder of the same name, behind something else": ({ skillFile, script, folder }) => [
    ["40000", "evil", folder([skillFile])],
    ["100644", "f", skillFile[2]],
    ["40000", "evil", folder([script])],
  ],
  "a name with a slash": ({ skillFile, script, folder }) => [
    ["40000", "evil", folder([skillFile])],
    ["100755", "evil/go.sh", script[2]],
  ],
  "a folder that is called `.`": ({ skillFile, script, folder }) => [
    ["40000", "evil", folder([skillFile])],
    ["40000", ".", folder([["40000", "evil", folder([script])]])],
  ],
};

interface Put {
  readonly skillFile: Entry;
  readonly script: Entry;
  folder(entries: readonly Entry[]): string;
}

/** With so many files, a thread makes them. */
const MANY = 80;

async function installRaw(make: (put: Put) => readonly Entry[], padding: number, isRemote: boolean) {
  const world = createInstallWorld();
  const repository = world.repository({ "x.txt": "x" });
  const put = {
    skillFile: ["100644", "SKILL.md", blob(repository, skill("evil"))],
    script: ["100755", "go.sh", blob(repository, STEALING)],
    folder: (entries: readonly Entry[]) => tree(repository, entries),
  } as const;
  const others = Array.from({ length: padding }, (_, index): Entry => {
    return ["100644", `p${100 + index}`, blob(repository, `${index}\n`)];
  });
  const commit = repository.git("commit-tree", tree(repository, [...make(put), ...others]), "-m", "raw");
  repository.git("update-ref", "refs/heads/main", commit);
  const metier = await world.metier();
  const source = isRemote ? await serve(repository) : repository.url;
  return { outcome: await metier.install({ source, skills: ["*"] }), stored: world.stored() };
}

for (const padding of [3, MANY]) {
  for (const [place, isRemote] of [
    ["over HTTP", true],
    ["in place", false],
  ] as const) {
    for (const [what, make] of Object.entries(LATE)) {
      test(`${what} ${place}, with ${padding} other files, is refused`, async () => {
        const { outcome, stored } = await installRaw(make, padding, isRemote);
        expect(outcome).toMatchObject({ ok: false, fault: { code: "source.unsafe" } });
        expect(stored).toEqual([]);
      });
    }

    test(`the same script in its folder ${place}, with ${padding} other files, is found and blocked`, async () => {
      const { outcome, stored } = await installRaw(
        ({ skillFile, script, folder }) => [["40000", "evil", folder([skillFile, script])]],
        padding,
        isRemote,
      );
      expect(resultOf(outcome).skipped).toMatchObject([{ name: "evil", code: "install.blocked" }]);
      expect(stored).toEqual([]);
    });
  }
}

const POLICY = { block: "block", ignore: [], knownNames: [], baselines: [], diagnostics: [] } as const;

test("what was scanned early counts only if it is what will be installed", async () => {
  const root = temporaryFolder();
  const directory = join(root, "evil");
  writeTree(root, { "evil/SKILL.md": skill("evil"), "evil/go.sh": STEALING });
  const bytes = Buffer.from(skill("evil"));
  const file = { path: "SKILL.md", kind: "file", size: bytes.length, executable: false } as const;
  const files = [{ ...file, digest: digestBytes(bytes) }];
  for (const early of [{ files, read: () => bytes }, undefined]) {
    const scans = openFetchedScans(POLICY, true);
    scans.begin(directory, early);
    const [scan] = await scans.of(
      [{ directory, called: "evil", digest: "sha256:of-something-else" }],
      () => undefined,
    );
    await scans.close();
    expect(scan?.findings.map(({ path }) => path)).toContain("go.sh");
  }
});

test("skills of a tree that is made anew are scanned, and counted, once", async () => {
  const world = createInstallWorld();
  const skills = Array.from({ length: 40 }, (_, index) => [`skills/s${index}/SKILL.md`, skill(`s${index}`)]);
  const repository = world.repository(Object.fromEntries(skills));
  writeTree(repository.folder, { "zz.bin": makeNoise(8 * 1024 * 1024 + 1) }); // Too large to be written ahead.
  repository.git("add", "--all");
  repository.git("commit", "--quiet", "--message", "large");
  const totals = new Set<number | undefined>();
  const metier = await world.metier();
  const { installed } = resultOf(
    await metier.install({
      source: await serve(repository),
      skills: ["*"],
      onProgress: ({ what, total }) => void (what === "Scanning" && totals.add(total)),
    }),
  );
  expect(installed).toHaveLength(40);
  expect([...totals]).toEqual([40]);
});
