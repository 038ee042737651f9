/** Objects that are there already are not asked of git. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeNoise, serve } from "../../../../../test/support/ahead-fetching.ts";
import { fetchedFrom } from "../../../../../test/support/git-fetching.ts";
import { createRepository } from "../../../../../test/support/git-repository.ts";
import { temporaryFolder } from "../../../../../test/support/temporary.ts";
import { skill } from "../../../../../test/support/world.ts";
import { withFound } from "../../../src/install/git/git-objects.ts";

test("a request of which one object is missing or too large goes to git as a whole", async () => {
  const there = new Map([
    ["a", Buffer.from("A")],
    ["long", Buffer.from("LONG")],
  ]);
  const asked: (readonly string[])[] = [];
  let opened = 0;
  const objects = withFound(
    (kind, id) => (kind === "blob" ? there.get(id) : undefined),
    () => {
      opened++;
      return {
        async ask(_kind, ids, _maxBytes, take) {
          asked.push(ids);
          for (const id of ids) take(Buffer.from(`git's ${id}`), id);
        },
        close: async () => undefined,
      };
    },
  );
  const ask = async (ids: readonly string[], maxBytes = 4, kind: "blob" | "tree" = "blob") => {
    const taken: string[] = [];
    await objects.ask(kind, ids, maxBytes, (content, id) => taken.push(`${id} ${content}`));
    return taken;
  };
  expect(await ask(["long", "a"])).toEqual(["long LONG", "a A"]);
  expect(opened).toBe(0);
  expect(await ask(["a", "b"])).toEqual(["a git's a", "b git's b"]);
  expect(await ask(["a", "long"], 3)).toEqual(["a git's a", "long git's long"]);
  expect(await ask(["a"], 4, "tree")).toEqual(["a git's a"]);
  expect(asked).toEqual([["a", "b"], ["a", "long"], ["a"]]);
  expect(opened).toBe(1);
});

/** Instead of `git`: notes how it is called. */
function noteCalls(): { readonly path: string; calls(): readonly string[] } {
  const folder = temporaryFolder();
  const [program, log] = [join(folder, "git"), join(folder, "log")];
  writeFileSync(log, "");
  writeFileSync(program, `#!/bin/sh\necho "$*" >> "${log}"\nPATH="\${PATH#*:}" exec git "$@"\n`);
  chmodSync(program, 0o755);
  return {
    path: `${folder}:${process.env.PATH}`,
    calls: () => readFileSync(log, "utf8").trimEnd().split("\n"),
  };
}

test("of a repository that was read while it came, nothing is asked anymore", async () => {
  const large = { "large.bin": makeNoise(8 * 1024 * 1024 + 1) };
  for (const [files, isAsked] of [
    [{}, false],
    [large, true],
  ] as const) {
    const { path, calls } = noteCalls();
    const repository = createRepository({ "a/SKILL.md": skill("a"), ...files });
    await fetchedFrom(await serve(repository), { environment: { PATH: path } });
    expect(calls().some((call) => call.includes(" fetch "))).toBe(true);
    expect(calls().some((call) => call.includes("cat-file"))).toBe(isAsked);
  }
});
