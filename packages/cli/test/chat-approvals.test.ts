import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "../../../test/support/chat.ts";
import { chatWorld, inTerminal } from "./chat-world.ts";

const write = (path: string, content = "new\n") => calls("write_file", { path, content });

test("[U15] a write is asked about with its diff, and happens once for `y`", async () => {
  const world = chatWorld([write("a.txt", "one\nTWO\nthree\n"), write("a.txt"), says("Done.")]);
  world.write({ "project/a.txt": "one\ntwo\nthree\n" });
  const { screen } = await inTerminal(world, { lines: ["Write."], answers: ["y", ""] }, "--write");
  expect(screen).toContain(
    "  | --- a.txt\n  | +++ a.txt\n  | @@ -1,3 +1,3 @@\n  |  one\n  | -two\n  | +TWO\n  |  three",
  );
  expect(screen).toContain("s  until this session ends: every call that `write_file(./*)` covers");
  expect(screen.match(/Allow\? /g)).toHaveLength(2);
  expect(readFileSync(join(world.project, "a.txt"), "utf8")).toBe("one\nTWO\nthree\n");
});

test("[U15] `s` allows what the shown rule covers until the session ends, and nothing else", async () => {
  const world = chatWorld([
    write("a/1.txt"),
    write("a/2.txt"),
    says("1"),
    write("a/3.txt"),
    write("b.txt"),
    says("2"),
  ]);
  const { screen } = await inTerminal(world, { lines: ["Write.", "More."], answers: ["s", "n"] }, "--write");
  expect(screen.match(/Allow\? /g)).toHaveLength(2);
  expect(existsSync(join(world.project, "a/3.txt"))).toBe(true);
  expect(existsSync(join(world.project, "b.txt"))).toBe(false);
  expect(readFileSync(join(world.home, ".metier/config.toml"), "utf8")).not.toContain("write_file");
});

test("[U15] `a` writes the shown rule into the config, and the next chat does not ask", async () => {
  const world = chatWorld([write("a/1.txt"), write("a/2.txt"), says("Done.")]);
  const { screen } = await inTerminal(world, { lines: ["Write."], answers: ["a"] }, "--write");
  const file = join(world.home, ".metier/config.toml");
  expect(screen).toContain(
    `a  always, in every project: adds to [tools] in ${file}\n       "write_file(./a/**)" = "allow"`,
  );
  expect(readFileSync(file, "utf8")).toMatch(/\[tools\]\n"write_file\(\.\/a\/\*\*\)" = "allow"/);
  const again = await inTerminal(world, { lines: ["Write."] }, "--write");
  expect(again.screen).not.toContain("Allow? ");
});

test("what is no answer is asked again, and Enter alone means no", async () => {
  const world = chatWorld([write("a.txt"), says("Done.")]);
  const { screen } = await inTerminal(world, { lines: ["Write."], answers: ["hm", "a lot", ""] }, "--write");
  expect(screen.match(/Allow\? /g)).toHaveLength(3);
  expect(existsSync(join(world.project, "a.txt"))).toBe(false);
});

test("[U4] a write that cannot succeed is not asked about, and names `--write`", async () => {
  const readOnly = { toolResult: "`--write`" };
  const world = chatWorld([write("a.txt"), says("Read-only.", readOnly)]);
  const { screen } = await inTerminal(world, { lines: ["Write."] });
  expect(screen).not.toContain("Allow? ");
  expect(screen).toContain("--write");
  expect(screen).toContain("Read-only.");
  const edit = calls("edit_file", { path: "a.txt", old_string: "not there", new_string: "x" });
  const other = chatWorld([edit, says("Hm.", { toolResult: "was not changed" })]);
  other.write({ "project/a.txt": "text\n" });
  expect((await inTerminal(other, { lines: ["Edit."] }, "--write")).screen).not.toContain("Allow? ");
});

test("[U15] a diff never shows a file that is no text as a new one", async () => {
  const world = chatWorld([write("image.bin"), says("Done.")]);
  writeFileSync(join(world.project, "image.bin"), Buffer.from([0, 255, 254, 1]));
  const { screen } = await inTerminal(world, { lines: ["Write."], answers: ["n"] }, "--write");
  expect(screen).toContain("--- image.bin (4 bytes, not shown; all of them are replaced)");
  expect(screen).not.toContain("/dev/null");
});

test("[U4] a write to a link is not asked about, since it is refused anyway", async () => {
  const world = chatWorld([write("link.txt"), says("A link.", { toolResult: "is a link" })]);
  world.write({ "elsewhere.txt": "mine\n" });
  symlinkSync(join(world.root, "elsewhere.txt"), join(world.project, "link.txt"));
  const { screen } = await inTerminal(world, { lines: ["Write."] }, "--write");
  expect(screen).not.toContain("Allow? ");
  expect(screen).toContain("A link.");
});

test("[U15] a long diff is cut around its middle, and `d` shows all of it", async () => {
  const world = chatWorld([write("long.txt", "short\n"), says("Done.")]);
  const lines = Array.from({ length: 500 }, (_, index) => `line ${index}`).join("\n");
  world.write({ "project/long.txt": lines });
  const short = await inTerminal(world, { lines: ["Write."], answers: ["n"] }, "--write");
  expect(short.screen).toContain("lines not shown (1 added, 500 removed in total); d shows them");
  expect(short.screen).not.toContain("-line 250");
  const whole = await inTerminal(world, { lines: ["Write."], answers: ["d", "n"] }, "--write");
  expect(whole.screen).toContain("-line 250");
  expect(whole.screen.match(/Allow\? /g)).toHaveLength(2);
});

test("[U15] Ctrl-C at an approval says that the call was skipped, once", async () => {
  const world = chatWorld([write("a.txt"), says("Done.")]);
  const { screen } = await inTerminal(world, { lines: ["Write."], answers: [] }, "--write");
  expect(screen).toContain("✗ write_file a.txt: skipped");
  expect(screen).not.toContain("could not be asked");
});
