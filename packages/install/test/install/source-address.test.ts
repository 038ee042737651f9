/** The grammar of source addresses: every form, what it is written down as, and what is refused with which advice. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { moveGit } from "../../src/install/addresses/address-parts.ts";
import { parseSourceAddress, type SourceAddress } from "../../src/install/addresses/source-address.ts";

const OPTIONS = { cwd: "/work/project", home: "/home/someone" };
const COMMIT = "0123456789abcdef0123456789abcdef01234567";

function read(text: string, ref?: string): SourceAddress {
  const parsed = parseSourceAddress(text, { ...OPTIONS, ...(ref !== undefined && { ref }) });
  if (!parsed.ok) throw new Error(`${text}: ${parsed.refusal.message} ${parsed.refusal.hint}`);
  return parsed.value;
}

function refusal(text: string, ref?: string): string {
  const parsed = parseSourceAddress(text, { ...OPTIONS, ...(ref !== undefined && { ref }) });
  if (parsed.ok) throw new Error(`${text} is taken for ${parsed.value.canonical}`);
  return `${parsed.refusal.message} ${parsed.refusal.hint}`;
}

/** Text, and URL, reference and path of the repository it means. */
const GIT: readonly (readonly [text: string, url: string, ref?: string | undefined, path?: string])[] = [
  ["owner/repo", "https://github.com/owner/repo.git"],
  ["owner/repo/", "https://github.com/owner/repo.git"],
  ["owner/repo.git", "https://github.com/owner/repo.git"],
  ["owner/repo@v1.2.0", "https://github.com/owner/repo.git", "v1.2.0"],
  ["owner/repo@feature/x", "https://github.com/owner/repo.git", "feature/x"],
  ["owner/repo@name@1.0.0", "https://github.com/owner/repo.git", "name@1.0.0"],
  ["owner/repo@@scope/name@1.0.0", "https://github.com/owner/repo.git", "@scope/name@1.0.0"],
  ["owner/repo/skills/pdf", "https://github.com/owner/repo.git", undefined, "skills/pdf"],
  ["owner/repo/skills/pdf@main", "https://github.com/owner/repo.git", "main", "skills/pdf"],
  ["owner/repo/@scope/pdf@main", "https://github.com/owner/repo.git", "main", "@scope/pdf"],
  ["owner/repo#v1", "https://github.com/owner/repo.git", "v1"],
  ["owner/repo#v1:skills/pdf", "https://github.com/owner/repo.git", "v1", "skills/pdf"],
  [`Owner_1/my.repo-2@${COMMIT}`, "https://github.com/Owner_1/my.repo-2.git", COMMIT],
  ["github:owner/repo/pdf@v1", "https://github.com/owner/repo.git", "v1", "pdf"],
  ["gitlab:group/repo", "https://gitlab.com/group/repo.git"],
  ["gitlab:group/sub/repo.git/pdf@v1", "https://gitlab.com/group/sub/repo.git", "v1", "pdf"],
  ["github.com/owner/repo", "https://github.com/owner/repo.git"],
  ["https://github.com/owner/repo", "https://github.com/owner/repo.git"],
  ["https://GitHub.com/owner/repo.git/", "https://github.com/owner/repo.git"],
  ["HTTPS://www.github.com/owner/repo?tab=readme", "https://github.com/owner/repo.git"],
  ["https://github.com/owner/repo.git#v1", "https://github.com/owner/repo.git", "v1"],
  ["https://github.com/owner/repo/commit/0123abc", "https://github.com/owner/repo.git", "0123abc"],
  ["https://github.com/owner/repo/releases/tag/v1.0", "https://github.com/owner/repo.git", "v1.0"],
  ["https://github.com/owner/repo/tree/main", "https://github.com/owner/repo.git", "main"],
  ["https://github.com/o/r/tree/main/skills/pdf", "https://github.com/o/r.git", "main", "skills/pdf"],
  [
    "https://github.com/o/r/tree/main/my%20skills/pdf/",
    "https://github.com/o/r.git",
    "main",
    "my skills/pdf",
  ],
  ["https://github.com/o/r/blob/v1/skills/pdf/SKILL.md", "https://github.com/o/r.git", "v1", "skills/pdf"],
  ["https://github.com/o/r/blob/v1/SKILL.md", "https://github.com/o/r.git", "v1"],
  ["https://github.com/o/r/blob/v1/skills/pdf.md", "https://github.com/o/r.git", "v1", "skills/pdf.md"],
  ["https://gitlab.com/g/s/r/-/tree/main/skills/pdf", "https://gitlab.com/g/s/r.git", "main", "skills/pdf"],
  ["https://gitlab.com/g/r/-/blob/main/a/SKILL.md?ref_type=heads", "https://gitlab.com/g/r.git", "main", "a"],
  ["https://gitlab.com/g/s/t/r", "https://gitlab.com/g/s/t/r.git"],
  ["https://git.corp.example/team/repo/-/tree/main/x", "https://git.corp.example/team/repo", "main", "x"],
  ["https://git.example.com/x.git", "https://git.example.com/x.git"],
  ["https://git.example.com/owner/repo", "https://git.example.com/owner/repo"],
  ["https://git.example.com:8443/x.git#main:a/b", "https://git.example.com:8443/x.git", "main", "a/b"],
  ["https://git.example.com/x.git#:a/b", "https://git.example.com/x.git", undefined, "a/b"],
  ["git+https://git.example.com/x.zip", "https://git.example.com/x.zip"],
  ["git+https://github.com/owner/repo", "https://github.com/owner/repo.git"],
  ["http://127.0.0.1:8080/x.git", "http://127.0.0.1:8080/x.git"],
  ["http://localhost/x.git", "http://localhost/x.git"],
  ["git@github.com:owner/repo.git", "git@github.com:owner/repo.git"],
  ["git@github.com:owner/repo.git#v1:pdf", "git@github.com:owner/repo.git", "v1", "pdf"],
  ["me@Host.example:/srv/git/x.git", "me@host.example:/srv/git/x.git"],
  ["ssh://git@host.example:2222/owner/repo.git", "ssh://git@host.example:2222/owner/repo.git"],
  ["git+ssh://git@host.example/x.git#v1", "ssh://git@host.example/x.git", "v1"],
  ["ssh://host.example/~me/x.git", "ssh://host.example/~me/x.git"],
  ["file:///srv/git/repo", "file:///srv/git/repo"],
  ["file:///srv/with%20space/repo.git#v1:pdf", "file:///srv/with%20space/repo.git", "v1", "pdf"],
  ["git+file:///srv/x.zip", "file:///srv/x.zip"],
  ["/srv/git/repo.git", "file:///srv/git/repo.git"],
  ["./repo.git#v1", "file:///work/project/repo.git", "v1"],
];

describe("repositories", () => {
  for (const [text, url, ref, path = ""] of GIT) {
    verifies([186, "case 104"], `${text} is the repository ${url}`, () => {
      const address = read(text);
      expect(address).toMatchObject({ kind: "git", url, path });
      expect(address.kind === "git" && address.ref).toBe(ref);
      expect(read(address.canonical)).toEqual(address);
    });
  }
});

const OTHERS: readonly (readonly [text: string, address: Partial<SourceAddress>, canonical?: string])[] = [
  ["/srv/skills", { kind: "folder", path: "/srv/skills" }],
  ["/srv/skills/", { kind: "folder", path: "/srv/skills" }, "/srv/skills"],
  [".", { kind: "folder", path: "/work/project" }, "/work/project"],
  ["..", { kind: "folder", path: "/work" }, "/work"],
  ["./owner/repo", { kind: "folder", path: "/work/project/owner/repo" }, "/work/project/owner/repo"],
  ["../a/./b/../c", { kind: "folder", path: "/work/a/c" }, "/work/a/c"],
  [
    ".agents/skills",
    { kind: "folder", path: "/work/project/.agents/skills" },
    "/work/project/.agents/skills",
  ],
  ["~", { kind: "folder", path: "/home/someone" }, "/home/someone"],
  ["~/skills", { kind: "folder", path: "/home/someone/skills" }, "/home/someone/skills"],
  ["/srv/a#b", { kind: "folder", path: "/srv/a#b" }],
  ["/srv/my skills", { kind: "folder", path: "/srv/my skills" }],
  [
    "./x.tar.gz",
    { kind: "archive", url: "file:///work/project/x.tar.gz", path: "" },
    "/work/project/x.tar.gz",
  ],
  ["~/x.TGZ", { kind: "archive", url: "file:///home/someone/x.TGZ" }, "/home/someone/x.TGZ"],
  ["/srv/x.zip#:a/b", { kind: "archive", url: "file:///srv/x.zip", path: "a/b" }],
  ["file:///srv/x%20y.tar", { kind: "archive", url: "file:///srv/x%20y.tar" }, "/srv/x y.tar"],
  ["./SKILL.md", { kind: "file", url: "file:///work/project/SKILL.md" }, "/work/project/SKILL.md"],
  ["https://host.example/x.tar.gz", { kind: "archive", url: "https://host.example/x.tar.gz", path: "" }],
  ["https://host.example/x.zip?v=2", { kind: "archive", url: "https://host.example/x.zip?v=2" }],
  ["https://host.example/x.zip#:a/b", { kind: "archive", path: "a/b" }],
  ["https://github.com/o/r/archive/refs/tags/v1.tar.gz", { kind: "archive" }],
  ["https://host.example/a/SKILL.md", { kind: "file", url: "https://host.example/a/SKILL.md" }],
  ["npm:name", { kind: "npm", name: "name", range: "latest", path: "" }],
  ["npm:name@latest", { kind: "npm", name: "name", range: "latest" }, "npm:name"],
  ["npm:@scope/name", { kind: "npm", name: "@scope/name", range: "latest" }],
  [
    "npm:@scope/name@^1.2/skills/pdf",
    { kind: "npm", name: "@scope/name", range: "^1.2", path: "skills/pdf" },
  ],
  ["npm:name/skills/@x/pdf", { kind: "npm", name: "name", path: "skills/@x/pdf" }],
  ["npm:name@>=1 <2 || 3.x", { kind: "npm", range: ">=1 <2 || 3.x" }],
  [
    "https://host.example",
    { kind: "well-known", url: "https://host.example/.well-known/agent-skills/index.json" },
  ],
  ["https://Host.example:8443/", { kind: "well-known" }, "https://host.example:8443"],
  [
    "https://host.example/.well-known/agent-skills/index.json",
    { kind: "well-known" },
    "https://host.example",
  ],
  ["https://host.example/.well-known/agent-skills", { kind: "well-known" }, "https://host.example"],
  ["https://host.example/.well-known/skills/index.json", { kind: "well-known" }],
  ["https://host.example/docs/.well-known/agent-skills/index.json", { kind: "well-known" }],
  ["http://127.0.0.1:8080", { kind: "well-known" }],
];

describe("folders, archives, files, packages and indexes", () => {
  for (const [text, expected, canonical = text] of OTHERS) {
    verifies([192, "case 104", "case 106"], `${text} is read as ${expected.kind}`, () => {
      const address = read(text);
      expect(address).toMatchObject({ ...expected, canonical });
      expect(read(canonical)).toEqual(address);
    });
  }
});

/** Text, and a part of what is said about it. */
const REFUSED: readonly (readonly [text: string, said: string])[] = [
  ["", "is empty"],
  ["   ", "is empty"],
  ["pdf", "`npm:pdf`"],
  ["pdf.zip", "`./pdf.zip`"],
  ["downloads/pdf.zip", "`./downloads/pdf.zip`"],
  ["--upload-pack=touch x", "looks like an option"],
  ["-oProxyCommand=x", "looks like an option"],
  ["ext::sh -c touch% /tmp/x", "would make git run a program"],
  ["fd::17", "would make git run a program"],
  ["http://host.example/x.git", "is not encrypted"],
  ["http://127.0.0.1.example.com/x.git", "is not encrypted"],
  ["git://host.example/x.git", "Metier does not fetch over `git://`"],
  ["ftp://host.example/x.zip", "Metier does not fetch over `ftp://`"],
  ["javascript:alert(1)", "is not a source address"],
  ["https://user:password@host.example/x.git", "user name or password"],
  ["https://token@github.com/owner/repo", "user name or password"],
  ["https://user:password@/../x", "user name or password"],
  ["git+https://user:password@host.example/x.git", "user name or password"],
  ["ssh://git:password@host.example/x.git", "contains a password"],
  ["https://host.example/x.zip?X-Amz-Signature=abc", "contains a key"],
  ["https://host.example/x.zip?access_token=abc", "contains a key"],
  ["https://host.example/a/../x.git", "contains `..`"],
  ["https://host.example/a/%2e%2e/x.git", "contains `..`"],
  ["https://-host.example/x.git", "is not a URL"],
  ["https://", "is not a URL"],
  ["https://host.example/x%ff.git", "not encoded as UTF-8"],
  ["https://host.example/x.git?x=1", "has a query"],
  ["https://host.example#v1", "has no branches or tags"],
  ["https://host.example/x.zip#v1", "has no branches or tags"],
  ["https://github.com/owner", "it needs an owner and a repository"],
  ["https://github.com/owner/repo/pull/7", "shows neither a folder nor a file"],
  ["https://github.com/owner/repo/issues", "shows neither a folder nor a file"],
  ["owner/repo/../../etc", "goes up"],
  ["owner/../repo", "not a valid repository name"],
  ["owner/repo@-x", "starts with `-`"],
  ["owner/repo@a b", "contains a space"],
  ["owner/repo@a..b", "contains `..`"],
  ["owner/repo@", "is empty"],
  ["owner/repo@v1:pdf", "contains one of the characters"],
  ["owner/repo@x.lock", "`.lock`"],
  ["owner/repo#v1:../up", "goes up"],
  ["owner/repo@v1#v2", "another after `#`"],
  ["owner/-repo", "not a valid repository name"],
  [`${"o".repeat(65)}/repo`, "has 65 characters; the limit is 64"],
  [`owner/${"r".repeat(101)}`, "has 101 characters; the limit is 100"],
  [`owner/repo@${"r".repeat(251)}`, "has 251 characters"],
  [`npm:${"n".repeat(215)}`, "has 215 characters"],
  ["host.example/owner/repo", "`https://host.example/owner/repo`"],
  ["git@-oProxyCommand=x:repo.git", "is not an ssh address"],
  ["git@host.example:-x/repo.git", "is not an ssh address"],
  ["ssh://-oProxyCommand=x/repo.git", "is not an ssh address"],
  ["ssh://host.example/", "is not an ssh address"],
  ["-x@host.example:repo.git", "looks like an option"],
  ["file://host.example/srv/repo", "is not a file on this machine"],
  ["~root/skills", "another user's home folder"],
  ["C:\\skills\\pdf", "Windows path"],
  ["owner\\repo", "Windows path"],
  ["owner/re\u0000po", "invisible characters"],
  ["owner/repo\u001b[2J", "invisible characters"],
  ["owner/re\u202epo", "invisible characters"],
  ["./a\nb", "invisible characters"],
  [`./${"x".repeat(3000)}`, "has 3002 characters"],
  ["npm:", "is not an npm package"],
  ["npm:../x", "is not an npm package"],
  ["npm:-x", "is not an npm package"],
  ["npm:name@$(x)", "is not a version"],
  ["npm:name@", "is not a version"],
  ["npm:name/../x", "goes up"],
];

describe("what is no address", () => {
  for (const [text, said] of REFUSED) {
    const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
    verifies([190, "case 100", "case 104"], `${JSON.stringify(shown)} is refused with advice`, () => {
      const message = refusal(text);
      expect(message).toContain(said);
      expect(message).not.toMatch(/:password|[\p{Cc}\p{Cf}]/u);
    });
  }
});

describe("a reference given beside the address", () => {
  verifies([186, "case 100"], "is that of the repository, or the version of the package", () => {
    expect(read("owner/repo/pdf", "v2")).toMatchObject({ ref: "v2", path: "pdf" });
    expect(read("owner/repo@v2", "v2")).toMatchObject({ ref: "v2" });
    expect(read("git@host.example:x.git", "v2").canonical).toBe("git@host.example:x.git#v2");
    expect(read("npm:name", "1.2.3")).toMatchObject({ range: "1.2.3", canonical: "npm:name@1.2.3" });
  });
  test("tells where the branch of a page ends", () => {
    const page = "https://github.com/o/r/tree/feature/x/skills/pdf";
    expect(read(page)).toMatchObject({ ref: "feature", path: "x/skills/pdf", splitsAnywhere: true });
    const address = read(page, "feature/x");
    expect(address).toMatchObject({ ref: "feature/x", path: "skills/pdf" });
    expect(address).not.toHaveProperty("splitsAnywhere");
  });
  test("is refused where there is another one, or none can be", () => {
    expect(refusal("owner/repo@v1", "v2")).toContain("Give only one");
    expect(refusal("npm:name@1", "2")).toContain("Give only one");
    expect(refusal("https://github.com/o/r/tree/main/x", "v2")).toContain("Give only one");
    expect(refusal("./folder", "v1")).toContain("is not a git repository");
    expect(refusal("https://host.example/x.zip", "v1")).toContain("has no branches or tags");
    expect(refusal("https://host.example", "v1")).toContain("has no branches or tags");
    expect(refusal("owner/repo", "--upload-pack=x")).toContain("starts with `-`");
    expect(refusal("owner/repo", "")).toContain("is empty");
  });
});

test("a repository is written down at another commit and path as the same repository", () => {
  for (const text of ["owner/repo@v1", "git+https://host.example/x.zip#v1", "git@host.example:x.git"]) {
    const address = read(text);
    if (address.kind !== "git") throw new Error("It is a repository.");
    const moved = moveGit(address, { ref: COMMIT, path: "skills/pdf" });
    expect(moved).toMatchObject({ url: address.url, ref: COMMIT, path: "skills/pdf" });
    expect(read(moved.canonical)).toEqual(moved);
  }
});

describe("for any text", () => {
  const pieces = fc.array(
    fc.constantFrom(
      ...["https://", "http://", "ssh://", "git+", "file://", "npm:", "github:", "gitlab:", "git@", "~", "."],
      ...[
        "/",
        ":",
        "@",
        "#",
        "?",
        "..",
        "-",
        "%2f",
        "%",
        " ",
        ".git",
        ".zip",
        ".md",
        "/tree/",
        "/-/blob/",
        "\\",
      ],
      ...[
        "host.example",
        "github.com",
        "localhost",
        "owner",
        "repo",
        "v1",
        "skills",
        "é",
        "\u200b",
        "\u{1f600}",
        "^1",
      ],
    ),
    { maxLength: 9 },
  );
  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    pieces.map((parts) => parts.join("")),
  );

  test("a path with empty parts reads back as itself, too", () => {
    const parsed = parseSourceAddress("file:///tree/https://.zip", OPTIONS);
    expect(parsed).toMatchObject({ ok: true, value: { canonical: "/tree/https:/.zip" } });
  });

  test.each(["./skills /", "npm:owner/skills /"])(
    "%j ends with a space and is refused: it would not read back",
    (text) => {
      const refused = { ok: false, refusal: { message: expect.stringContaining("ends with a space") } };
      expect(parseSourceAddress(text, OPTIONS)).toMatchObject(refused);
    },
  );

  test("it is an address that reads back as itself, or a refusal in one line", () => {
    fc.assert(
      fc.property(texts, fc.option(fc.constantFrom("v1", "main", "-x"), { nil: undefined }), (text, ref) => {
        const parsed = parseSourceAddress(text, { ...OPTIONS, ...(ref !== undefined && { ref }) });
        if (parsed.ok) {
          expect(parseSourceAddress(parsed.value.canonical, { cwd: "/", home: "/" })).toEqual(parsed);
          expect(parsed.value.canonical).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
        } else {
          expect(parsed.refusal.message).not.toBe("");
          expect(parsed.refusal.hint).not.toBe("");
          expect(parsed.refusal.message + parsed.refusal.hint).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
