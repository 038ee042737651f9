import { createHash } from "node:crypto";
import type { RequestListener } from "node:http";
import { basename } from "node:path";
import { pipeline, Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import type { AddressBook } from "@metier/sandbox/egress";
import { describe, expect, test } from "vitest";
import { tarOf, zipOf } from "../../../../test/support/archives.ts";
import { faultFrom, fetchedFrom, readFolder } from "../../../../test/support/git-fetching.ts";
import { addressBook, PUBLIC, type Site, startSite } from "../../../../test/support/loopback-site.ts";
import { skillText } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const SKILL = skillText("name: pdf\ndescription: Reads PDF files.");
const TARBALL = gzipSync(
  tarOf({ name: "repo-main/SKILL.md", content: SKILL }, { name: "repo-main/a.txt", content: "a" }),
);
const LIMITS = { idleMs: 2000, totalMs: 5000 };

const BOOK: AddressBook = addressBook({
  "site.example": [PUBLIC],
  "files.example": [PUBLIC],
  "inside.example": ["10.0.0.7"],
});

/** By path; what is not in it is not found. */
function serve(answers: Readonly<Record<string, string | Buffer | RequestListener>>): Promise<Site> {
  return startSite((request, response) => {
    const answer = answers[request.url ?? ""];
    if (typeof answer === "function") answer(request, response);
    else if (answer === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "content-length": Buffer.byteLength(answer) }).end(answer);
  });
}

function redirectTo(location: string): RequestListener {
  return (_request, response) => void response.writeHead(302, { location }).end();
}

function digestOf(bytes: Buffer | string): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

describe("a download", () => {
  verifies(192, "of an archive is unpacked, and known by the digest of its bytes", async () => {
    const zip = zipOf([{ name: "pdf/SKILL.md", content: SKILL }]);
    const site = await serve({ "/a.tar.gz": TARBALL, "/a.zip": zip });
    const tar = await fetchedFrom(`http://127.0.0.1:${site.port}/a.tar.gz`);
    expect(readFolder(tar.folder)).toEqual({ "SKILL.md": SKILL, "a.txt": "a" });
    expect(tar).toMatchObject({
      resolved: digestOf(TARBALL),
      canonical: `http://127.0.0.1:${site.port}/a.tar.gz`,
    });
    const zipped = await fetchedFrom(`http://localhost:${site.port}/a.zip#:docs`);
    expect(zipped).toMatchObject({ resolved: digestOf(zip), paths: ["docs"] });
  });

  verifies(192, "of a `SKILL.md` becomes a skill folder of its name", async () => {
    const site = await serve({ "/skills/other/SKILL.md": SKILL, "/notes.md": "# Notes\n\nWrite notes." });
    const named = await fetchedFrom(`http://127.0.0.1:${site.port}/skills/other/SKILL.md`);
    expect([basename(named.folder), readFolder(named.folder)]).toEqual(["pdf", { "SKILL.md": SKILL }]);
    expect(basename((await fetchedFrom(`http://127.0.0.1:${site.port}/notes.md`)).folder)).toBe("notes");
  });

  test("is taken byte for byte, also where a server calls an archive a packed answer", async () => {
    const site = await serve({
      "/a.tgz": (_request, response) =>
        void response.writeHead(200, { "content-encoding": "gzip" }).end(TARBALL),
    });
    expect((await fetchedFrom(`http://127.0.0.1:${site.port}/a.tgz`)).resolved).toBe(digestOf(TARBALL));
  });

  test("says how far it is", async () => {
    const site = await serve({ "/a.tgz": TARBALL });
    const steps: unknown[] = [];
    await fetchedFrom(`http://127.0.0.1:${site.port}/a.tgz`, { onProgress: (step) => steps.push(step) });
    const what = `Downloading 127.0.0.1:${site.port}`;
    expect(steps).toContainEqual({ what, done: TARBALL.length, total: TARBALL.length });
  });
});

describe("a server that misbehaves", () => {
  const CASES: readonly (readonly [what: string, answer: RequestListener, code: string])[] = [
    ["has nothing", (_, response) => void response.writeHead(404).end(), "source.not_found"],
    ["requires a sign-in", (_, response) => void response.writeHead(403).end(), "source.unauthorized"],
    ["is broken", (_, response) => void response.writeHead(503).end(), "source.unreachable"],
    ["hangs up", (_, response) => void response.destroy(), "source.unreachable"],
    ["sends a web page", (_, response) => void response.end("<!doctype html><p>Sign in"), "source.damaged"],
    [
      "sends less than it announces",
      (_, response) => {
        response.writeHead(200, { "content-length": TARBALL.length });
        response.write(TARBALL.subarray(0, 50), () => response.destroy());
      },
      "source.unreachable",
    ],
    ["sends half an archive", (_, response) => void response.end(TARBALL.subarray(0, 80)), "source.damaged"],
  ];

  test.each(CASES)("one that %s gives a fault", async (_what, answer, code) => {
    const site = await serve({ "/x.tgz": answer });
    expect(await faultFrom(`http://127.0.0.1:${site.port}/x.tgz`, { limits: LIMITS })).toMatchObject({
      code,
    });
  });

  test("one that redirects in circles is left", async () => {
    const site = await serve({ "/x.tgz": redirectTo("/x.tgz") });
    const fault = await faultFrom(`http://127.0.0.1:${site.port}/x.tgz`);
    expect(fault).toMatchObject({ code: "source.failed" });
    expect(fault.message).toContain("redirects more than 5 times");
  });

  test("one that says nothing more is not waited for", async () => {
    const site = await serve({
      "/x.tgz": (_request, response) => void response.writeHead(200).write(TARBALL.subarray(0, 50)),
    });
    const fault = await faultFrom(`http://127.0.0.1:${site.port}/x.tgz`, {
      limits: { idleMs: 200, totalMs: 60_000 },
    });
    expect(fault).toMatchObject({ code: "source.unreachable" });
    expect(fault.message).toContain("sent nothing for 200 ms");
  });

  test("one that sends without end is stopped", async () => {
    const site = await serve({
      "/x.tgz": (_request, response) => void pipeline(Readable.from(zeros()), response, () => undefined),
    });
    const fault = await faultFrom(`http://127.0.0.1:${site.port}/x.tgz`, { limits: { bytes: 1_000_000 } });
    expect(fault).toMatchObject({ code: "source.limited" });
  });

  test("a cancelled download is told apart", async () => {
    const site = await serve({ "/x.tgz": () => undefined });
    const signal = AbortSignal.timeout(100);
    expect(await faultFrom(`http://127.0.0.1:${site.port}/x.tgz`, { signal })).toMatchObject({
      code: "cancelled",
    });
  });
});

function* zeros(): Generator<Buffer, void> {
  for (;;) yield Buffer.alloc(65_536);
}

describe("where a download may lead", () => {
  const address = (url: string) => ({ kind: "archive", url, path: "", canonical: url }) as const;

  test("another public host is followed, and it is said", async () => {
    const site = await startSite((request, response) => {
      const isFirst = request.headers.host?.startsWith("site.example");
      if (isFirst) response.writeHead(302, { location: `http://files.example:${site.port}/b.tgz` }).end();
      else response.end(TARBALL);
    });
    const url = `http://site.example:${site.port}/a.tgz`;
    const source = await fetchedFrom(address(url), { addresses: BOOK });
    expect(source.resolved).toBe(digestOf(TARBALL));
    expect(source.diagnostics).toMatchObject([{ code: "source.redirected", severity: "info", path: url }]);
    expect(source.diagnostics[0]?.message).toContain(`\`files.example:${site.port}\``);
  });

  test("another port of another host is not", async () => {
    const other = await serve({ "/a.tgz": TARBALL });
    const site = await serve({ "/a.tgz": redirectTo(`http://files.example:${other.port}/a.tgz`) });
    const fault = await faultFrom(address(`http://site.example:${site.port}/a.tgz`), { addresses: BOOK });
    expect(fault).toMatchObject({ code: "source.refused" });
    expect(other.requests).toEqual([]);
  });

  test.each([
    ["a private address", "http://inside.example/a.tgz", "10.0.0.7"],
    ["a private address by number", "http://192.168.1.1/a.tgz", "192.168.1.1"],
    ["a metadata service", "http://169.254.169.254/latest", "169.254.169.254"],
    ["this machine by name", "http://localhost/a.tgz", "localhost"],
    ["a file", "file:///etc/passwd", "file:"],
    ["a host that is not there", "https://nowhere.example/a.tgz", "nowhere.example"],
  ])("a redirect to %s is refused", async (_what, location, named) => {
    const site = await serve({ "/a.tgz": redirectTo(location) });
    const fault = await faultFrom(address(`http://site.example:${site.port}/a.tgz`), { addresses: BOOK });
    expect(fault.message).toContain("redirects to a refused address");
    expect(fault.message).toContain(named);
  });

  test("a server of this machine leads nowhere else", async () => {
    const other = await serve({ "/secret.tgz": TARBALL });
    const site = await serve({ "/a.tgz": redirectTo(`http://127.0.0.1:${other.port}/secret.tgz`) });
    const fault = await faultFrom(`http://127.0.0.1:${site.port}/a.tgz`);
    expect(fault).toMatchObject({ code: "source.refused" });
    expect(other.requests).toEqual([]);
  });

  test("private addresses are refused, also when the user types them", async () => {
    const fault = await faultFrom("https://10.0.0.7/a.tgz");
    expect(fault).toMatchObject({ code: "source.refused" });
    expect(fault.message).toContain("a private address");
  });

  test("plain http is refused", async () => {
    const book = addressBook({ "site.example": ["93.184.216.34"] });
    const fault = await faultFrom(address("http://site.example/a.tgz"), { addresses: book });
    expect(fault).toMatchObject({ code: "source.refused" });
    expect(fault.message).toContain("plain `http:`");
  });
});
