/**
 * Scoped shell patterns against everything we know of: no trick starts anything but a named program, honest commands
 * pass, and what passes is run by a real bash that logs what it starts.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createToolPolicy, type PolicyDecision } from "@metier/run";
import { readAllowingScope, readCommand } from "@metier/sandbox/shell";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../support/temporary.ts";
import { verifies } from "../support/verifies.ts";
import { BYPASSES } from "./shell-bypasses.ts";
import { HONEST, PERMITTED, SCOPES } from "./shell-commands.ts";

const BASH = ["/bin/bash", "/usr/bin/bash"].find((file) => existsSync(file));

/** As a run asks: an isolated, trusted skill that may write and read files and has these scopes. */
async function match(command: string, scopes = SCOPES): Promise<PolicyDecision> {
  const allowedTools = [...scopes.map((scope) => `Bash(${scope})`), "Read", "Write"];
  const { decide, diagnostics } = createToolPolicy({
    lists: [
      {
        owner: "skill `demo`",
        path: "/skills/demo/SKILL.md",
        trust: "trusted",
        isIsolated: true,
        allowedTools,
        requiredTools: [],
        disallowedTools: [],
      },
    ],
    config: {},
    policy: {},
    cwd: "/project",
  });
  expect(diagnostics).toEqual([]);
  return decide("bash", "execute", { command });
}

describe("bypasses", () => {
  for (const [trick, commands] of Object.entries(BYPASSES)) {
    verifies(18, `no scope covers ${trick}`, async () => {
      for (const command of commands) {
        const { answer, message, argv } = await match(command);
        expect({ command, answer, argv }).toEqual({ command, answer: "deny", argv: undefined });
        expect(message, command).toContain("Allowed: `Bash(git:*)`");
      }
    });
  }

  test("the table is as large as was asked for, and has nothing twice", () => {
    const commands = Object.values(BYPASSES).flat();
    expect(commands.length).toBeGreaterThanOrEqual(130);
    expect(new Set(commands).size).toBe(commands.length);
  });
});

describe("honest commands", () => {
  verifies(18, "each of them is covered", async () => {
    expect(HONEST.length).toBeGreaterThanOrEqual(60);
    for (const command of HONEST) {
      const { answer, message } = await match(command);
      expect({ command, answer, message }).toEqual({ command, answer: "allow", message: undefined });
    }
  });
});

/** Programs that only log how they were called, in a folder that is all of PATH. */
interface Stubs {
  /** Runs the text with a real bash and gives the calls of programs, each as its words. */
  run(text: string): readonly (readonly string[])[];
}

function makeStubs(): Stubs {
  const folder = temporaryFolder();
  const traps = "evil rm sh bash env xargs sudo awk EOF a b x log then".split(" ");
  // One write for one call, so that the programs of a pipeline do not mix their lines.
  const stub = (program: string): string =>
    `#!/bin/sh\ncall=$(printf '%s\\001' ${program} "$@")\nprintf '%s\\002' "$call" >> "$CALLS"\n`;
  const programs = [...PERMITTED, ...traps].map((program) => [`bin/${program}`, stub(program)] as const);
  const script = "cwd/scripts/check.sh";
  writeTree(folder, { ...Object.fromEntries(programs), [script]: stub("check.sh") });
  for (const path of [...programs.map(([path]) => path), script]) chmodSync(join(folder, path), 0o755);
  // What the honest commands expect to find where they run.
  writeTree(folder, { "cwd/src/a.ts": "", "cwd/out/x": "", "cwd/changes.patch": "" });
  let runs = 0;
  return {
    run(text) {
      const calls = join(folder, `calls-${++runs}`);
      writeFileSync(calls, "");
      spawnSync(BASH ?? "bash", ["-c", `${text}\nwait`], {
        cwd: join(folder, "cwd"),
        env: { PATH: join(folder, "bin"), HOME: folder, CALLS: calls },
        timeout: 20_000,
        stdio: "ignore",
      });
      const logged = readFileSync(calls, "utf8").split("\x02").slice(0, -1);
      return logged.map((call) => call.split("\x01").slice(0, -1));
    },
  };
}

describe.skipIf(BASH === undefined)("what a real bash does with what is covered", () => {
  test("an honest command starts permitted programs only, with exactly the words that were read", async () => {
    const stubs = makeStubs();
    let started = 0;
    for (const command of HONEST) {
      const { argv } = await match(command);
      const calls = stubs.run(command);
      started += calls.length;
      for (const [program = ""] of calls) expect(PERMITTED, command).toContain(program);
      const [program, ...words] = argv ?? [];
      const isBuiltin = program === "echo" || program === "printf";
      if (program === undefined || isBuiltin) continue;
      expect({ command, calls }).toEqual({ command, calls: [[program.replace(/^.*\//, ""), ...words]] });
    }
    expect(started).toBeGreaterThan(HONEST.length);
  });

  test("nothing random that is covered starts anything else", async () => {
    const stubs = makeStubs();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(randomCommand(), async (command) => {
        const { answer, argv } = await match(command, ["git:*", "ls:*", "cat:*"]);
        if (answer !== "allow" || runs >= 150) return;
        runs++;
        const calls = stubs.run(command);
        for (const [program = ""] of calls) expect(["git", "ls", "cat"], command).toContain(program);
        if (argv !== undefined) expect(calls, command).toEqual([argv]);
      }),
      { numRuns: 4000 },
    );
    expect(runs).toBeGreaterThan(0);
  });
});

/** Pieces of shell with and without blanks between them; many parse, some are covered. */
function randomCommand(): fc.Arbitrary<string> {
  const likely = fc.constantFrom(
    "git status",
    "git log",
    "ls",
    "cat",
    "git log -1",
    "'a b'",
    '"c d"',
    "a\\ b",
  );
  const operator = fc.constantFrom(
    ";",
    "&&",
    "||",
    "|",
    "&",
    "\n",
    "|&",
    "! ",
    "(",
    ")",
    "{ ",
    "; }",
    "\\\n",
  );
  const word = fc.constantFrom(
    ...[
      "evil",
      "rm",
      "x=1",
      "$x",
      "$(evil)",
      "`evil`",
      "'",
      '"',
      "\\",
      "#",
      "~",
      "*",
      "{a,b}",
      "{",
      "}",
      "then",
    ],
    ...["if ", "; then ", "; fi", "eval", "time ", "a", "2", "=", "-", "!", "^", "@"],
    ...[
      ">/dev/null",
      "2>&1",
      "> x",
      "< x",
      "<<EOF\n",
      "<<'EOF'\n",
      "\nEOF\n",
      "<<<",
      "&>",
      ">&2",
      "{x}>y",
      "$'a'",
    ],
  );
  const piece = fc.oneof(
    { weight: 5, arbitrary: likely },
    { weight: 3, arbitrary: operator },
    { weight: 2, arbitrary: word },
  );
  const joined = fc.tuple(piece, fc.constantFrom(" ", " ", "", "\t", "\n")).map((parts) => parts.join(""));
  return fc.array(joined, { minLength: 1, maxLength: 7 }).map((parts) => parts.join(""));
}

describe("properties", () => {
  const literal = fc.string({
    unit: fc.constantFrom(..."abZ09 -_.,;&|<>()$`\"'\\!#*?[]{}~=:@%^+/\n\té"),
    minLength: 0,
    maxLength: 12,
  });

  test("quoting literal words never changes what is read", async () => {
    const quoted = fc.tuple(literal, fc.constantFrom("single", "double", "escape")).map(([word, style]) => ({
      word,
      written: quote(word, style as "single" | "double" | "escape"),
    }));
    await fc.assert(
      fc.asyncProperty(fc.array(quoted, { maxLength: 5 }), async (words) => {
        const text = ["echo", ...words.map(({ written }) => written)].join(" ");
        expect(await readCommand(text), text).toMatchObject({
          provable: true,
          commands: [["echo", ...words.map(({ word }) => word)]],
        });
      }),
      { numRuns: 1500 },
    );
  });

  test("no text whatever makes the reading throw", async () => {
    const text = fc.oneof(fc.string({ unit: "binary", maxLength: 80 }), literal, randomCommand());
    await fc.assert(
      fc.asyncProperty(text, async (command) => {
        const parsed = await readCommand(command);
        expect(typeof parsed.provable).toBe("boolean");
        expect(typeof readAllowingScope(command).ok).toBe("boolean");
      }),
      { numRuns: 3000 },
    );
  });
});

function quote(word: string, style: "single" | "double" | "escape"): string {
  const canEscape = /^[ -~]+$/.test(word);
  if (style === "escape" && canEscape) return word.replace(/[^A-Za-z0-9]/g, "\\$&");
  if (style === "double") return `"${word.replace(/[$`"\\]/g, "\\$&")}"`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
