import { describe, expect, test } from "vitest";
import { readCommand } from "../../src/shell/read-command.ts";

async function reasonFor(text: string): Promise<string | undefined> {
  const parsed = await readCommand(text);
  return parsed.provable ? undefined : parsed.reason;
}

describe("simple commands", () => {
  test("a single command is given as words to be executed without a shell", async () => {
    expect(await readCommand(`git commit -m "a 'b'" 'c "d"' e\\ f`)).toEqual({
      provable: true,
      commands: [["git", "commit", "-m", "a 'b'", 'c "d"', "e f"]],
      writes: [],
      reads: [],
      argv: ["git", "commit", "-m", "a 'b'", 'c "d"', "e f"],
    });
  });

  test("every simple command of a list, a pipeline, a group, a condition and a loop is found", async () => {
    const text =
      "a 1 | b; (c && { d; }) || ! e & if f; then g; elif h; then i; else j; fi\nuntil k; do l; done";
    const parsed = await readCommand(text);
    expect(parsed.provable && parsed.commands.map((words) => words.join(" "))).toEqual([
      ...["a 1", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"],
    ]);
  });

  test("what is more than one plain command has no words to be executed alone", async () => {
    for (const text of [
      "a; b",
      "a | b",
      "(a)",
      "{ a; }",
      "! a",
      "a &",
      "a > x",
      "a 2>&1",
      "a <<< b",
      "cd src",
      ":",
    ]) {
      const parsed = await readCommand(text);
      expect(parsed.provable && parsed.argv, text).toBeUndefined();
      expect(parsed.provable, text).toBe(true);
    }
  });

  test("comments, blank lines and continued lines around a command change nothing", async () => {
    for (const text of ["# why\n\na b", "a b # why", "a \\\n  b", "\n a\tb ;\n"]) {
      expect(await readCommand(text), text).toMatchObject({ argv: ["a", "b"] });
    }
  });
});

describe("words", () => {
  test("characters without a meaning in their place are literal", async () => {
    const text = "git HEAD~1 HEAD^ stash@{0} a#b a:b --x=y 50% a,b x+y ../z";
    expect(await readCommand(text)).toMatchObject({ argv: text.split(" ") });
  });

  test("a word that a shell would change is named with the reason", async () => {
    expect(await reasonFor("git log *.ts")).toBe("`*.ts` is a glob");
    expect(await reasonFor("cat ~/x")).toBe("`~/x` may be a home folder");
    expect(await reasonFor('echo "a $b"')).toBe('`"a $b"` is expanded by the shell');
    expect(await reasonFor("echo {a,b}")).toContain("braces");
    expect(await reasonFor("echo größe")).toContain("unquoted letters");
    expect(await reasonFor("A=b echo")).toBe("`A=b` assigns a variable");
    expect(await reasonFor("f() { a; }")).toBe("it defines a function");
    expect(await reasonFor("a\u00A0b")).toBe("it contains the character U+00A0");
    expect(await reasonFor("a\rb")).toBe("it contains the character U+000D");
  });
});

describe("redirections", () => {
  test("files that are written and read are named", async () => {
    const text = "a > w1 2>> 'w 2' < r1; b &> w3 >| w4; { c; } >& w5; d <> rw";
    expect(await readCommand(text)).toMatchObject({
      writes: ["w1", "w 2", "w3", "w4", "w5", "rw"],
      reads: ["r1", "rw"],
    });
  });

  test("descriptors and the null device are no files", async () => {
    for (const text of ["a 2>&1", "a >&2", "a 2>&-", "a > /dev/null 2>&1", "a < /dev/null", "a 3<&0"]) {
      expect(await readCommand(text), text).toMatchObject({ provable: true, writes: [], reads: [] });
    }
  });

  test("a connection, a variable and an expanded target are not proven", async () => {
    expect(await reasonFor("a > /dev/tcp/localhost/1")).toContain("network connection");
    expect(await reasonFor("a {x}> y")).toBe("a redirection sets a variable");
    expect(await reasonFor("a > $x")).toContain("expanded");
    expect(await reasonFor("cd x && a > y")).toContain("`cd`");
  });

  test("a here-document is literal where its mark is quoted or nothing in it is expanded", async () => {
    expect(await reasonFor("a <<'E'\n$x `y`\nE")).toBeUndefined();
    expect(await reasonFor("a <<E\nplain\nE\n")).toBeUndefined();
    expect(await reasonFor("a <<-E\n\tplain\n\tE")).toBeUndefined();
    expect(await reasonFor("a <<E\n$x\nE")).toContain("quote its delimiter");
    expect(await reasonFor("a <<E\nnever closed")).toMatch(/here-document|parsed/);
    expect(await reasonFor("a <<A <<B\nA\nB")).toContain("more than one");
  });
});
