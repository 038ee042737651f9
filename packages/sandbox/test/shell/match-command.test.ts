import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import {
  mayMatchCommand,
  readAllowingScope,
  readCommandScope,
  whyNotCovered,
} from "../../src/shell/command-scope.ts";
import { readCommand } from "../../src/shell/read-command.ts";

async function allows(pattern: string, command: string): Promise<boolean> {
  const reading = readAllowingScope(pattern);
  if (!reading.ok) throw new Error(reading.refusal);
  const parsed = await readCommand(command);
  return (
    parsed.provable && parsed.commands.every((words) => whyNotCovered(words, reading.value) === undefined)
  );
}

function mayMatch(pattern: string, command: string): boolean {
  const reading = readCommandScope(pattern);
  if (!reading.ok) throw new Error(reading.refusal);
  return mayMatchCommand(command.split(" "), reading.value);
}

describe("scopes", () => {
  verifies(18, "`:*` and a `*` of its own stand for any further words", async () => {
    for (const pattern of ["git log:*", "git log *"]) {
      expect(await allows(pattern, "git log")).toBe(true);
      expect(await allows(pattern, "git log -1")).toBe(true);
      expect(await allows(pattern, "git logx")).toBe(false);
      expect(await allows(pattern, "git status")).toBe(false);
      expect(await allows(pattern, "git --no-pager log")).toBe(false);
    }
  });

  test("without it exactly these words match", async () => {
    expect(await allows("npm run test", "npm run test")).toBe(true);
    expect(await allows("npm run test", "npm run 'test'")).toBe(true);
    expect(await allows("npm run test", "npm run test --watch")).toBe(false);
    expect(await allows("git commit -m 'a b'", 'git commit -m "a b"')).toBe(true);
    expect(await allows("npm run test:unit", "npm run test:unit")).toBe(true);
  });

  test("what is not covered is told why", () => {
    const reading = readAllowingScope("git:*");
    if (!reading.ok) throw new Error(reading.refusal);
    expect(whyNotCovered(["git", "log"], reading.value)).toBeUndefined();
    expect(whyNotCovered(["tail", "-1"], reading.value)).toBe("`tail -1` matches no pattern");
    expect(whyNotCovered(["git", "-c", "a=b", "log"], reading.value)).toBe(
      "`-c` can make `git` start another program, load code or write a file",
    );
  });

  test("a scope that cannot be held is not read", () => {
    const unreadable = [
      "python*:*",
      "git*",
      "",
      ":*",
      "a | b",
      "a; b",
      "$x:*",
      "g?t:*",
      "git:log *",
      "'a",
      "a && b:*",
    ];
    for (const pattern of unreadable) expect(readCommandScope(pattern).ok, pattern).toBe(false);
  });

  test("a scope that names what never matches allows nothing, but can deny", () => {
    for (const pattern of [
      "bash:*",
      "sudo git:*",
      "env:*",
      "awk:*",
      "eval:*",
      "git -c x=y log:*",
      "find . -exec:*",
    ]) {
      expect(readAllowingScope(pattern).ok, pattern).toBe(false);
      expect(readCommandScope(pattern).ok, pattern).toBe(true);
    }
    expect(readAllowingScope("git config:*").ok).toBe(true);
  });
});

describe("denying scopes", () => {
  test("hold for every way to write the program, and with options in between", () => {
    for (const command of [
      "rm x",
      "/bin/rm x",
      "./rm",
      "RM x",
      "sudo rm x",
      "env rm",
      "xargs rm",
      "find . -exec rm",
    ]) {
      expect(mayMatch("rm:*", command), command).toBe(true);
    }
    expect(mayMatch("git push:*", "git --no-pager push origin")).toBe(true);
    expect(mayMatch("git push --force:*", "git push -f")).toBe(true);
  });

  test("do not hold where that is certain", () => {
    expect(mayMatch("rm:*", "git rm x")).toBe(false);
    expect(mayMatch("rm:*", "ls -la")).toBe(false);
    expect(mayMatch("git push:*", "git pull")).toBe(false);
    expect(mayMatch("git push --force:*", "git push origin main")).toBe(false);
    expect(mayMatch("git push", "git push origin")).toBe(false);
    expect(mayMatch("git push", "git push")).toBe(true);
  });
});
