/** `[install] private-hosts`: which hosts of private networks are installed from, and who may say so. */
import { gzipSync } from "node:zlib";
import type { AddressBook } from "@metier/sandbox/egress";
import { describe, expect, test } from "vitest";
import { tarOf } from "../../../../test/support/archives.ts";
import { faultFrom, fetchedFrom } from "../../../../test/support/git-fetching.ts";
import { addressBook, PUBLIC, startSite } from "../../../../test/support/loopback-site.ts";
import { skillText } from "../../../../test/support/temporary.ts";
import { createWorld } from "../../../../test/support/world.ts";

/** Stands for an address such as `10.1.2.3`. */
const PRIVATE = "127.0.0.77";
const BOOK: AddressBook = {
  ...addressBook({
    "git.corp.example": [PRIVATE],
    gitbox: [PRIVATE],
    "site.example": [PUBLIC],
    "inside.example": ["10.0.0.7"],
    "meta.example": ["169.254.169.254"],
  }),
  isPrivate: (address) => address === PRIVATE,
};
const SKILL = skillText("name: pdf\ndescription: Reads PDF files.");
const TARBALL = gzipSync(tarOf({ name: "repo-main/SKILL.md", content: SKILL }));
const archive = (url: string) => ({ kind: "archive", url, path: "", canonical: url }) as const;

describe("[U18] a host of a private network", () => {
  test.each(["https://inside.example/a.tgz", "https://10.0.0.7:8443/a.tgz", "https://gitbox/a.tgz"])(
    "%s is refused, and the refusal names the key",
    async (url) => {
      const fault = await faultFrom(archive(url), { addresses: BOOK });
      expect(fault.code).toBe("source.refused");
      expect(fault.hint).toContain(`\`[install]\` \`private-hosts = ["${new URL(url).host}"]\``);
      const git = await faultFrom(url.replace("a.tgz", "a/repo.git"), { addresses: BOOK });
      expect([git.code, git.hint]).toEqual(["source.refused", expect.stringContaining("private-hosts")]);
    },
  );

  test("is installed from once it is named, with its port, and by a name without a dot", async () => {
    const site = await startSite((_, response) => void response.end(TARBALL), PRIVATE);
    for (const host of ["git.corp.example", "gitbox"]) {
      const url = `http://${host}:${site.port}/a.tgz`;
      const named = { addresses: BOOK, privateHosts: [`${host}:${site.port}`] };
      expect((await fetchedFrom(archive(url), named)).canonical).toBe(url);
      for (const others of [[host], ["*"], [`*:${site.port}`], ["other.example"], [""]]) {
        const fault = await faultFrom(archive(url), { addresses: BOOK, privateHosts: others });
        expect([others, fault.code]).toEqual([others, "source.refused"]);
      }
    }
    expect(site.requests).toHaveLength(2);
  });

  test("is asked by git once it is named", async () => {
    const fault = await faultFrom("https://git.corp.example/a/repo.git", {
      addresses: BOOK,
      privateHosts: ["git.corp.example"],
    });
    expect(fault.code).toBe("source.unreachable"); // It was dialled; nothing listens there.
  });

  test("is not reached by a redirect of a public site, and never leads to a metadata service", async () => {
    const inside = await startSite((_, response) => void response.end(TARBALL), PRIVATE);
    const location = `http://git.corp.example:${inside.port}/a.tgz`;
    const site = await startSite((_, response) => void response.writeHead(302, { location }).end());
    const named = { addresses: BOOK, privateHosts: [`git.corp.example:${inside.port}`, "meta.example"] };
    const fault = await faultFrom(archive(`http://site.example:${site.port}/a.tgz`), named);
    expect(fault.code).toBe("source.refused");
    expect(inside.requests).toEqual([]);
    const meta = await faultFrom(archive("https://meta.example/a.tgz"), named);
    expect([meta.code, meta.message]).toEqual(["source.refused", expect.stringContaining("169.254.169.254")]);
  });

  test("is named by the user's config, never by a project's, trusted or not", async () => {
    const world = createWorld();
    const text = '[install]\nprivate-hosts = ["git.corp.example"]\n';
    world.write({ "project/.metier/config.toml": text });
    await world.cli("trust", world.project);
    const theirs = await world.metier({ trust: "grants" });
    expect(theirs.config.projectFile?.granted).toBe(true);
    expect(theirs.config.config.install.privateHosts).toEqual([]);
    expect(theirs.config.diagnostics).toMatchObject([{ code: "config.user-only" }]);
    world.write({ "home/.metier/config.toml": text });
    expect((await world.metier()).config.config.install.privateHosts).toEqual(["git.corp.example"]);
  });
});
