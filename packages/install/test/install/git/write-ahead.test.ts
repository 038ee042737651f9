/** Files that are written while git still receives them: the same tree, notes and refusals as if all had come first. */
import { createHash } from "node:crypto";
import { chmodSync, readdirSync, symlinkSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { basename, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  look,
  makeNoise,
  readShortly,
  type Seen,
  serve,
  shorten,
  treeOf,
} from "../../../../../test/support/ahead-fetching.ts";
import { fetchedFrom } from "../../../../../test/support/git-fetching.ts";
import { createRepository, type Repository } from "../../../../../test/support/git-repository.ts";
import { startGitServer } from "../../../../../test/support/git-server.ts";
import { packOf } from "../../../../../test/support/pack-bytes.ts";
import { until } from "../../../../../test/support/processes.ts";
import { temporaryFolder, writeTree } from "../../../../../test/support/temporary.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import { skill } from "../../../../../test/support/world.ts";
import { openTreeMaker } from "../../../src/install/tree-maker.ts";

const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${"0".repeat(64)}\nsize 12345\n`;

function createMixed(): Repository {
  const repository = createRepository({});
  const files = Object.fromEntries(
    Array.from({ length: 90 }, (_, index) => [`skills/many/f${index}/${index % 7}.md`, `${index % 30}\n`]),
  );
  writeTree(repository.folder, {
    ...files,
    "README.md": "Hello.\n",
    "a/b/c/d/e/deep.txt": "deep\n",
    "skills/a/SKILL.md": skill("a"),
    "skills/a/aux.md": "not on Windows\n",
    "skills/a/nested/SKILL.md": skill("nested"),
    "skills/a/run.sh": "#!/bin/sh\n",
    "skills/a/what?.md": POINTER,
    "skills/b/SKILL.md": skill("b"),
    "skills/c/SKILL.md": skill("c"),
    "skills/c/copy/of/SKILL-a.md": skill("a"),
    "skills/c/empty.txt": "",
    "skills/c/model.bin": POINTER,
    "skills/c/noise.bin": makeNoise(50_000, 1),
    "skills/c/noise-again.bin": makeNoise(50_000, 1),
    "skills/many/SKILL.md": skill("many"),
    "zz.txt": "the end\n",
  });
  chmodSync(join(repository.folder, "skills/a/run.sh"), 0o755);
  symlinkSync("SKILL.md", join(repository.folder, "skills/b/link.md"));
  symlinkSync("skills/a", join(repository.folder, "to-a"));
  repository.git("add", "--all");
  const other = repository.git("rev-parse", "HEAD");
  for (const path of ["vendor", "skills/c/vendor"]) {
    repository.git("update-index", "--add", "--cacheinfo", `160000,${other},${path}`);
  }
  repository.git("commit", "--quiet", "--message", "mixed");
  return repository;
}

verifies(
  [186, "case 100"],
  "a repository over HTTP gives the files, the notes and the folders that it gives in place",
  async () => {
    const repository = createMixed();
    const url = await serve(repository);
    const here = await look(repository.url);
    expect(here.outcome.ok && here.outcome.value.diagnostics.map(({ code }) => code)).toEqual([
      "tree.submodule",
      "tree.submodule",
      "tree.unportable-name",
      "tree.lfs-pointer",
      "tree.unportable-name",
      "tree.lfs-pointer",
    ]);
    const there = await look(url);
    expect(there.told).toEqual(here.told);
    const byThread = await lookWithThread(url);
    expect(byThread.told).toEqual(here.told);
    expect(here.found.map(([folder]) => folder)).toEqual(["skills/a", "skills/c", "skills/many"]);
    for (const { found } of [there, byThread]) {
      expect(found).toEqual(here.found);
    }
  },
);

test("only outer skills are told, whatever else is called like one", async () => {
  const repository = createRepository({
    "SKILL.md": skill("root"),
    "a/0/SKILL.md": skill("nested"),
    "a/SKILL.md": skill("a"),
    "b/0/SKILL.md": skill("inner"),
    "c/0/SKILL.md/file.md": "The folder is called so.\n",
    "d/file.md": "d\n",
    "z.md": "the end\n",
  });
  const other = repository.git("rev-parse", "HEAD");
  repository.git("update-index", "--add", "--cacheinfo", `160000,${other},d/SKILL.md`);
  symlinkSync("../z.md", join(repository.folder, "b/SKILL.md"));
  repository.git("add", "b");
  repository.git("commit", "--quiet", "--message", "more");
  const here = await look(repository.url);
  const there = await look(await serve(repository));
  expect(there.told).toEqual(here.told);
  expect(there.found).toEqual(here.found.filter(([folder]) => folder === "a"));
  expect(there.found).toHaveLength(1);
});

function lookWithThread(url: string): Promise<Seen> {
  const maker = openTreeMaker(1000);
  onTestFinished(() => maker.close());
  return look(url, { makerOf: () => maker });
}

test("what was written early is gone if it is not used", async () => {
  const large = { "zz.bin": makeNoise(8 * 1024 * 1024 + 1) };
  const repository = createRepository({ "a/SKILL.md": skill("a"), ...large });
  const into = temporaryFolder();
  let early = "";
  const onFound = (folder: string): void => {
    if (early === "") early = folder;
  };
  const { folder } = await fetchedFrom(await serve(repository), { into, onFound });
  expect(early.startsWith(folder)).toBe(false);
  expect(readdirSync(into)).toEqual([basename(folder)]);
});

test("a pack with deltas is written as what they make", async () => {
  const lines = Array.from({ length: 3000 }, (_, line) => `${line} ${makeNoise(12, line).toString("hex")}\n`);
  const version = (index: number): string => lines.with(index * 100, `changed ${index}\n`).join("");
  const repository = createRepository({ "SKILL.md": skill("a"), "large.txt": version(0) });
  for (let index = 1; index <= 6; index++) {
    const names = Array.from({ length: index }, (_, one) => [`v/${one}.txt`, version(one)]);
    repository.commit({ "SKILL.md": skill("a"), "large.txt": version(index), ...Object.fromEntries(names) });
  }
  repository.git("repack", "-adfq", "--window=50", "--depth=50");
  const packs = join(repository.folder, ".git/objects/pack");
  const index = readdirSync(packs).find((name) => name.endsWith(".idx")) ?? "";
  expect(repository.git("verify-pack", "-v", join(packs, index))).toMatch(/chain length = \d/);
  const { told } = await look(await serve(repository));
  expect(told).toEqual((await look(repository.url)).told);
});

/** A server that lists this commit and sends these bytes as the pack, as it likes. */
async function sendPack(
  repository: Repository,
  commit: string,
  send: (response: ServerResponse, nth: number) => void | Promise<void>,
): Promise<string> {
  let sent = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = (await request.setEncoding("latin1").toArray()).join("");
    response.writeHead(200, { "content-type": "application/x-git-upload-pack-result" });
    if (body.includes("command=fetch")) return send(response, ++sent);
    const refs = [`${commit} HEAD symref-target:refs/heads/main\n`, `${commit} refs/heads/main\n`];
    response.end(`${refs.map((line) => frame(line)).join("")}0000`);
  };
  const { origin } = await startGitServer(dirname(repository.folder), {
    spoil(request, response) {
      if (request.method === "POST") void answer(request, response);
      return request.method === "POST";
    },
  });
  return `${origin}/repo`;
}

/** A line of git's protocol. */
function frame(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, "0")), bytes]);
}

const PACK_FOLLOWS = frame("packfile\n");

/** In its own channel. */
function frames(pack: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < pack.length; at += 1000)
    parts.push(frame(Buffer.concat([Buffer.from([1]), pack.subarray(at, at + 1000)])));
  return Buffer.concat(parts);
}

function sendWhole(response: ServerResponse, pack: Buffer): void {
  response.end(Buffer.concat([PACK_FOLLOWS, frames(pack), Buffer.from("0000")]));
}

const TYPES: Readonly<Record<string, number>> = { commit: 1, tree: 2, blob: 3 };

/** These objects, whole and in this order. */
function packObjects(objects: readonly (readonly [kind: string, content: Buffer])[]): Buffer {
  return packOf(objects.map(([kind, content]) => ({ type: TYPES[kind] ?? 0, content })));
}

type Objects = Parameters<typeof packObjects>[0];

/** What a file is made of, and what it is called. */
function idOf(kind: string, content: Buffer): string {
  return createHash("sha1").update(`${kind} ${content.length}\0`).update(content).digest("hex");
}

/** Its commit, tree and files, in that order. */
function commitOf(files: Readonly<Record<string, Buffer>>): {
  readonly id: string;
  readonly objects: Objects;
} {
  const names = Object.keys(files).sort();
  const blobs = names.map((name) => ["blob", files[name] ?? Buffer.alloc(0)] as const);
  const tree = treeOf(
    names.map((name, index) => ["100644", name, idOf("blob", blobs[index]?.[1] ?? Buffer.alloc(0))]),
  );
  const who = "Test <test@example.com> 0 +0000";
  const commit = Buffer.from(`tree ${idOf("tree", tree)}\nauthor ${who}\ncommitter ${who}\n\nmade\n`);
  return { id: idOf("commit", commit), objects: [["commit", commit], ["tree", tree], ...blobs] };
}

function halfOf({ length }: Buffer): number {
  return Math.floor(length / 2);
}

/** Many files of noise, so that half of the pack has about half of them. */
function makeNoisy(): { readonly id: string; readonly pack: Buffer; readonly files: Record<string, Buffer> } {
  const noisy = Array.from(
    { length: 30 },
    (_, index) => [`noise-${index}.bin`, makeNoise(9000, index)] as const,
  );
  const files = { "SKILL.md": Buffer.from(skill("a")), ...Object.fromEntries(noisy) };
  const { id, objects } = commitOf(files);
  return { id, pack: packObjects(objects), files };
}

function asText(files: Readonly<Record<string, Buffer>>): Record<string, string> {
  const texts = Object.entries(files).map(([name, content]) => [name, content.toString("latin1")]);
  return shorten(Object.fromEntries(texts));
}

test("files are there while the server still holds back the rest of the pack", async () => {
  const { id, pack, files } = makeNoisy();
  const half = frames(pack.subarray(0, halfOf(pack)));
  let release: (() => void) | undefined;
  const url = await sendPack(createRepository({}), id, (response) => {
    response.write(Buffer.concat([PACK_FOLLOWS, half]));
    release = () => {
      response.end(Buffer.concat([frames(pack.subarray(halfOf(pack))), Buffer.from("0000")]));
    };
  });
  const into = temporaryFolder();
  const written = (): readonly string[] =>
    readdirSync(into, { recursive: true, encoding: "utf8" }).filter((path) =>
      /(?:SKILL\.md|\.bin)$/.test(path),
    );
  const fetching = fetchedFrom(url, { into });
  await until("some files are there", () => written().length > 5);
  expect(written().length).toBeLessThan(Object.keys(files).length);
  expect(written().some((path) => path.endsWith("SKILL.md"))).toBe(true);
  release?.();
  const { folder, resolved } = await fetching;
  expect(resolved).toBe(id);
  expect(readShortly(folder)).toEqual(asText(files));
});

/** What becomes of the second half of a pack. */
const SPOILED: Readonly<Record<string, (response: ServerResponse, pack: Buffer) => void>> = {
  "ends halfway": (response, pack) => {
    const half = Buffer.concat([PACK_FOLLOWS, frames(pack.subarray(0, halfOf(pack)))]);
    response.write(half, () => response.socket?.destroySoon());
  },
  "is damaged in its second half": (response, pack) => {
    const damaged = Buffer.from(pack);
    damaged.fill(0x55, halfOf(pack), halfOf(pack) + 100);
    sendWhole(response, damaged);
  },
  "is whole except for its checksum": (response, pack) => {
    const damaged = Buffer.from(pack);
    damaged.fill(0x55, pack.length - 20);
    sendWhole(response, damaged);
  },
  "has one file less than its commit": (response) => {
    const { objects } = commitOf(makeNoisy().files);
    sendWhole(response, packObjects(objects.slice(0, -1)));
  },
};

for (const [what, spoil] of Object.entries(SPOILED)) {
  verifies(
    189,
    `a pack that ${what} is the same fault whether files were written meanwhile or not`,
    async () => {
      const { id, pack } = makeNoisy();
      const url = await sendPack(createRepository({}), id, (response) => spoil(response, pack));
      const before = await look(`${url}#main`);
      expect(before.told).toMatchObject({ code: "source.damaged" });
      expect((await look(url)).told).toEqual(before.told);
    },
  );

  test(`after a pack that ${what}, one that is whole is taken`, async () => {
    const { id, pack, files } = makeNoisy();
    const url = await sendPack(createRepository({}), id, (response, nth) => {
      if (nth === 1) spoil(response, pack);
      else sendWhole(response, pack);
    });
    const { folder, resolved } = await fetchedFrom(url);
    expect(resolved).toBe(id);
    expect(readShortly(folder)).toEqual(asText(files));
  });
}

const text = (content: string): Buffer => Buffer.from(content);
const MEANT = { "SKILL.md": text(skill("meant")), "both.txt": text("meant\n"), "meant.txt": text("x\n") };

for (const [what, files] of Object.entries({
  "of other files": { "SKILL.md": text(skill("other")), "both.txt": text("other\n") },
  "of more files": { ...MEANT, "zz.txt": text("more\n") },
  "of fewer files": { "SKILL.md": text(skill("meant")) },
  "of none of its files": { "other.txt": text("other\n") },
})) {
  test(`a commit ${what}, sent before the one that was listed, changes nothing`, async () => {
    const [meant, other] = [commitOf(MEANT), commitOf(files)];
    for (const objects of [
      [...other.objects, ...meant.objects],
      [...meant.objects, ...other.objects],
      [...other.objects.slice(0, 1), ...meant.objects, ...other.objects.slice(1)],
    ]) {
      const seen = new Set<string>();
      const pack = packObjects(
        objects.filter(([kind, content]) => seen.size < seen.add(idOf(kind, content)).size),
      );
      const url = await sendPack(createRepository({}), meant.id, (response) => sendWhole(response, pack));
      const { folder, resolved } = await fetchedFrom(url);
      expect(resolved).toBe(meant.id);
      expect(readShortly(folder)).toEqual(asText(MEANT));
    }
  });
}

test("another commit instead of the one that was listed is refused", async () => {
  const [meant, other] = [commitOf(MEANT), commitOf({ "SKILL.md": text(skill("other")) })];
  const url = await sendPack(createRepository({}), meant.id, (response) =>
    sendWhole(response, packObjects(other.objects)),
  );
  const { outcome, told } = await look(url);
  expect(outcome.ok).toBe(false);
  expect(told).toEqual((await look(`${url}#main`)).told);
});
