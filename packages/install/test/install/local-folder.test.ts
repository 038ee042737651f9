import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { faultFrom, fetchedFrom } from "../../../../test/support/git-fetching.ts";
import { skillText, temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { parseSourceAddress } from "../../src/install/addresses/source-address.ts";
import { copyFolder } from "../../src/install/local/fetch-folder.ts";
import { SOURCE_LIMITS } from "../../src/install/source-limits.ts";

const SKILL = skillText("name: pdf\ndescription: Reads PDF files.");

function skillFolder(): string {
  const folder = join(temporaryFolder(), "pdf");
  writeTree(folder, {
    "SKILL.md": SKILL,
    "bytes.bin": Buffer.from([0, 255, 13, 10, 26]),
    "scripts/run.sh": "#!/bin/sh\n",
  });
  chmodSync(join(folder, "scripts/run.sh"), 0o755);
  return folder;
}

describe("a local folder", () => {
  verifies([192, "case 106"], "is copied byte for byte, with executable bits and links", async () => {
    const folder = skillFolder();
    symlinkSync("scripts/run.sh", join(folder, "latest"));
    const source = await fetchedFrom(folder);
    expect(source.folder).not.toBe(folder);
    expect(source).toMatchObject({ resolved: folder, canonical: folder, diagnostics: [] });
    expect(readdirSync(source.folder).sort()).toEqual(["SKILL.md", "bytes.bin", "latest", "scripts"]);
    expect(readFileSync(join(source.folder, "bytes.bin"))).toEqual(Buffer.from([0, 255, 13, 10, 26]));
    expect(readlinkSync(join(source.folder, "latest"))).toBe("scripts/run.sh");
    expect(statSync(join(source.folder, "scripts/run.sh")).mode & 0o700).toBe(0o700);
  });

  verifies("case 106", "is used in place when it is linked", async () => {
    const folder = skillFolder();
    const source = await fetchedFrom(folder, { link: true });
    expect(source).toMatchObject({ folder, resolved: folder, linked: true });
  });

  verifies(["case 104", "case 106"], "is found however its path is written", async () => {
    const folder = skillFolder();
    const cwd = join(folder, "..");
    for (const address of ["./pdf", "./pdf/", ".//pdf/./scripts/..", `../${basename(cwd)}/pdf`]) {
      const parsed = parseSourceAddress(address, { cwd, home: cwd });
      if (!parsed.ok) throw new Error(parsed.refusal.message);
      expect(await fetchedFrom(parsed.value)).toMatchObject({ resolved: folder, canonical: folder });
    }
  });

  verifies("case 106", "is told from another one of the same name", async () => {
    const [one, two] = [skillFolder(), skillFolder()];
    writeTree(two, { "two.txt": "2" });
    const [first, second] = [await fetchedFrom(one), await fetchedFrom(two)];
    expect(first.canonical).not.toBe(second.canonical);
    expect(readdirSync(first.folder)).not.toContain("two.txt");
    expect(readdirSync(second.folder)).toContain("two.txt");
  });

  verifies("case 106", "that does not exist, or is a file, is a fault that says so", async () => {
    const folder = skillFolder();
    expect(await faultFrom(join(folder, "missing"))).toMatchObject({ code: "source.not_found" });
    expect(await faultFrom(join(folder, "SKILL.md", "below"))).toMatchObject({ code: "source.not_found" });
    const file = await faultFrom(join(folder, "bytes.bin"));
    expect(file).toMatchObject({ code: "source.invalid" });
    expect(file.message).toContain("is not a folder, an archive");
  });

  verifies("case 106", "that is a link is resolved, and it is said", async () => {
    const folder = skillFolder();
    const link = join(folder, "..", "link");
    symlinkSync("pdf", link);
    const source = await fetchedFrom(link);
    expect(source.resolved).toBe(folder);
    expect(source.diagnostics).toMatchObject([{ code: "source.link", path: link }]);
    expect(readFileSync(join(source.folder, "SKILL.md"), "utf8")).toBe(SKILL);
  });

  test("that is Metier's own, or holds it, is refused", async () => {
    const home = temporaryFolder();
    const store = join(home, ".metier");
    writeTree(store, { "store/pdf@0123/SKILL.md": SKILL });
    const inside = await faultFrom(join(store, "store", "pdf@0123"), { store });
    expect(inside).toMatchObject({ code: "source.refused" });
    expect(await faultFrom(home, { store })).toMatchObject({ code: "source.refused" });
  });

  test("leaves its repository and its packages behind, unless they are part of a skill", async () => {
    const folder = temporaryFolder();
    writeTree(folder, {
      ".git/config": "",
      "node_modules/left/index.js": "",
      "skills/pdf/SKILL.md": SKILL,
      "skills/pdf/node_modules/right/index.js": "",
      "skills/pdf/.git": "gitdir: elsewhere",
    });
    const source = await fetchedFrom(folder);
    expect(readdirSync(source.folder)).toEqual(["skills"]);
    expect(readdirSync(join(source.folder, "skills/pdf")).sort()).toEqual(["SKILL.md", "node_modules"]);
  });
});

describe("a hostile folder", () => {
  test.each(["/etc/passwd", "../outside", "a/../../outside"])(
    "with a link to %s is refused",
    async (target) => {
      const folder = skillFolder();
      symlinkSync(target, join(folder, "link"));
      const fault = await faultFrom(folder);
      expect(fault).toMatchObject({ code: "source.unsafe" });
      expect(fault.message).toContain("`link` is a link");
    },
  );

  test("with a FIFO is refused without waiting for it", async () => {
    const folder = skillFolder();
    execFileSync("mkfifo", [join(folder, "pipe")]);
    expect(await faultFrom(folder)).toMatchObject({ code: "source.unsafe" });
  });

  test("with too many or too large files is refused", async () => {
    const folder = skillFolder();
    expect(await faultFrom(folder, { limits: { files: 2 } })).toMatchObject({ code: "source.limited" });
    expect(await faultFrom(folder, { limits: { fileBytes: 4 } })).toMatchObject({ code: "source.limited" });
  });

  test("is left when someone calls it off", async () => {
    const folder = skillFolder();
    const stop = new AbortController();
    const onProgress = (): void => stop.abort();
    expect(await faultFrom(folder, { signal: stop.signal, onProgress })).toMatchObject({ code: "cancelled" });
  });

  test("that changes while it is copied is refused", async () => {
    const changes = [
      (folder: string): void => writeFileSync(join(folder, "SKILL.md"), `${SKILL}More.`),
      (folder: string): void => writeFileSync(join(folder, "zz-new.txt"), "new"),
      (folder: string): void => writeFileSync(join(folder, "bytes.bin"), "other"),
    ];
    for (const change of changes) {
      const folder = skillFolder();
      const into = join(temporaryFolder(), "into");
      mkdirSync(into);
      const onFile = (done: number): void => void (done === 2 && change(folder));
      await expect(copyFolder(folder, into, { limits: SOURCE_LIMITS, onFile })).rejects.toThrow(
        "changed during the copy",
      );
    }
  });
});

describe("a local file", () => {
  verifies(192, "that is an archive or a skill file is a source too", async () => {
    const folder = skillFolder();
    const file = await fetchedFrom(join(folder, "SKILL.md"));
    expect(basename(file.folder)).toBe("pdf");
    expect(readFileSync(join(file.folder, "SKILL.md"), "utf8")).toBe(SKILL);
    expect(file.resolved).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test("that is missing, or a folder, or too large, is a fault that says so", async () => {
    const folder = skillFolder();
    mkdirSync(join(folder, "x.zip"));
    expect(await faultFrom(join(folder, "y.zip"))).toMatchObject({ code: "source.not_found" });
    expect(await faultFrom(join(folder, "x.zip"))).toMatchObject({ code: "source.invalid" });
    const limits = { fileBytes: 4 };
    expect(await faultFrom(join(folder, "SKILL.md"), { limits })).toMatchObject({ code: "source.limited" });
  });
});
