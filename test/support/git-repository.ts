/** Real git repositories for tests, made by the system's git with no config but the test's own. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { temporaryFolder, writeTree } from "./temporary.ts";

export interface Repository {
  /** The work tree. */
  readonly folder: string;
  /** `file://` */
  readonly url: string;
  git(...args: readonly string[]): string;
  /** Makes exactly these files the content of a new commit; gives its id. */
  commit(files: Readonly<Record<string, string | Buffer>>, message?: string): string;
  /** A commit of a tree that no work tree could hold: lines as `git mktree` takes them, blobs written as text. */
  commitRaw(entries: readonly RawEntry[]): string;
}

export interface RawEntry {
  readonly mode: string;
  readonly name: string | Buffer;
  /** The text of a file, the target of a link, the id of a tree or submodule. */
  readonly content: string | Buffer;
  /** `content` is an id. Default: a blob is made of it. */
  readonly type?: "tree" | "commit";
}

const ENVIRONMENT = {
  PATH: process.env.PATH ?? "",
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "Test",
  GIT_AUTHOR_EMAIL: "test@example.com",
  GIT_COMMITTER_NAME: "Test",
  GIT_COMMITTER_EMAIL: "test@example.com",
  GIT_ALLOW_PROTOCOL: "file",
};

/** `filters`: whether it lets a client leave files out, as the large hosts do. Default: yes. */
export function createRepository(
  files: Readonly<Record<string, string | Buffer>>,
  { parent = temporaryFolder(), name = "repo", filters = true } = {},
): Repository {
  const folder = join(parent, name);
  mkdirSync(folder);
  const run = (args: readonly string[], input?: string | Buffer): string =>
    execFileSync("git", ["-C", folder, ...args], { env: ENVIRONMENT, input, encoding: "utf8" }).trimEnd();
  run(["init", "--quiet", "--initial-branch=main", "--template="]);
  if (filters) run(["config", "uploadpack.allowFilter", "true"]);
  const repository: Repository = {
    folder,
    url: pathToFileURL(folder).href,
    git: (...args) => run(args),
    commit(content, message = "change") {
      for (const path of run(["ls-files", "-z"]).split("\0").filter(Boolean)) rmSync(join(folder, path));
      writeTree(folder, content);
      run(["add", "--all", "--force"]);
      run(["commit", "--quiet", "--allow-empty", "--message", message]);
      return run(["rev-parse", "HEAD"]);
    },
    commitRaw(entries) {
      const blobs = new Map<string | Buffer, string>();
      const writeBlob = (content: string | Buffer): string => {
        const id = blobs.get(content) ?? run(["hash-object", "-w", "--stdin"], content);
        blobs.set(content, id);
        return id;
      };
      const lines = entries.map(({ mode, name: entryName, content, type }) => {
        const id = type === undefined ? writeBlob(content) : content;
        return Buffer.concat([
          Buffer.from(`${mode} ${type ?? "blob"} ${id}\t`),
          Buffer.from(entryName),
          Buffer.from("\0"),
        ]);
      });
      const tree = run(["mktree", "-z", "--missing"], Buffer.concat(lines));
      const commit = run(["commit-tree", tree, "-m", "raw"]);
      run(["update-ref", "refs/heads/main", commit]);
      return commit;
    },
  };
  repository.commit(files);
  return repository;
}
