import { chmodSync } from "node:fs";
import { join } from "node:path";
import { createCommandFinder } from "@metier/base/programs";
import type { TrustDecision } from "@metier/skills";
import type { EnvironmentValue } from "@metier/skills/config";
import { describe, expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import {
  isReservedVariable,
  missingVariables,
  type RunEnvironment,
  type RunEnvironmentRequest,
  resolveRunEnvironment,
  type SecretMachine,
} from "../../src/secrets/run-environment.ts";

const TRUSTED: TrustDecision = { level: "trusted", reason: "It is yours." };
const UNTRUSTED: TrustDecision = { level: "untrusted", reason: "Nobody vouched for it." };

function declaring(...env: readonly string[]): RunEnvironmentRequest["skill"] {
  return { name: "research", location: "/skills/research/SKILL.md", manifest: { env } };
}

function text(value: string, secret = true): EnvironmentValue {
  return { value, secret };
}

/** A machine whose programs print what the table says; anything else fails. */
function machine(prints: Readonly<Record<string, string>>, more: Partial<SecretMachine> = {}) {
  const ran: (readonly string[])[] = [];
  const made: SecretMachine = {
    findCommand: (name) => `/bin/${name}`,
    platform: "linux",
    async runCommand(argv) {
      ran.push(argv);
      const stdout = prints[argv.join(" ")];
      if (stdout === undefined) throw new Error("hunter2 is wrong");
      return { stdout };
    },
    ...more,
  };
  return { ran, machine: made };
}

function resolve(request: Partial<RunEnvironmentRequest>): Promise<RunEnvironment> {
  return resolveRunEnvironment({
    skill: declaring("API_KEY"),
    settings: { env: {} },
    trust: TRUSTED,
    userValues: TRUSTED,
    machine: machine({}).machine,
    ...request,
  });
}

describe("the variables of a run", () => {
  verifies(
    [162, 163, 207, "case 74"],
    "are exactly those that are declared and configured, by their exact names",
    async () => {
      process.env.METIER_TEST_INHERITED = "from the parent";
      const { variables, missing } = await resolve({
        skill: declaring("API_KEY", "REGION", "METIER_TEST_INHERITED", "OTHER", "bad-name"),
        settings: {
          env: { API_KEY: text("k3y"), REGION: text("eu", false), api_key: text("x"), EXTRA: text("y") },
        },
      });
      delete process.env.METIER_TEST_INHERITED;
      expect(variables).toEqual({
        API_KEY: { value: "k3y", secret: true },
        REGION: { value: "eu", secret: false },
      });
      expect(missing).toEqual(["OTHER"]);
    },
  );

  test("may be given by the caller, whose values win and are secret", async () => {
    const { variables } = await resolve({
      settings: { env: { API_KEY: text("config", false) } },
      given: { API_KEY: "caller", UNDECLARED: "x" },
    });
    expect(variables).toEqual({ API_KEY: { value: "caller", secret: true } });
  });

  verifies(185, "are none for an untrusted skill, and it is said why", async () => {
    const outcome = await resolve({
      settings: { env: { API_KEY: text("k3y") } },
      given: { API_KEY: "caller" },
      trust: UNTRUSTED,
    });
    expect(outcome).toMatchObject({ variables: {}, missing: [], withheld: ["API_KEY"] });
    expect(outcome.diagnostics).toMatchObject([
      { code: "secret.not-allowed", path: "/skills/research/SKILL.md" },
    ]);
    expect(outcome.diagnostics[0]?.message).toContain("Nobody vouched for it.");
  });

  test("of the user's config are none where only the program vouches; the program's own values are given", async () => {
    const outcome = await resolve({
      skill: declaring("API_KEY", "MINE"),
      settings: { env: { API_KEY: text("k3y") } },
      given: { MINE: "of the program" },
      userValues: UNTRUSTED,
    });
    expect(outcome.variables).toEqual({ MINE: { value: "of the program", secret: true } });
    expect(outcome.withheld).toEqual(["API_KEY"]);
  });

  test("never are ones that decide how programs start", async () => {
    const names = [
      "PATH",
      "LD_PRELOAD",
      "NODE_OPTIONS",
      "BASH_ENV",
      "GIT_SSH_COMMAND",
      "PYTHONPATH",
      "HTTPS_PROXY",
    ];
    const env = Object.fromEntries(names.map((name) => [name, text("/evil/thing")]));
    const outcome = await resolve({ skill: declaring(...names), settings: { env } });
    expect(outcome).toMatchObject({ variables: {}, missing: [] });
    expect(outcome.diagnostics.map(({ code }) => code)).toEqual(names.map(() => "secret.reserved-name"));
    expect(["GITHUB_TOKEN", "NODE_ENV", "PATHS", "HOMEPAGE_URL"].filter(isReservedVariable)).toEqual([]);
  });

  test("cannot hold a NUL, and an empty value is none", async () => {
    const outcome = await resolve({
      skill: declaring("A", "B"),
      settings: { env: { A: text("x\0y"), B: text("") } },
    });
    expect(outcome).toMatchObject({ variables: {}, missing: ["A", "B"] });
    expect(outcome.diagnostics).toMatchObject([{ code: "secret.unresolved" }]);
  });
});

describe("a value that config refers to", () => {
  const reference = (command: readonly string[]): EnvironmentValue => ({ command, secret: true });

  test("is printed by a command, which is run once, without the newline at its end", async () => {
    const { ran, machine: host } = machine({ "/bin/pass show a": "k3y \n\n" });
    const { variables } = await resolve({
      skill: declaring("A", "B"),
      settings: {
        env: {
          A: reference(["pass", "show", "a"]),
          B: { ...reference(["pass", "show", "a"]), secret: false },
        },
      },
      machine: host,
    });
    expect(variables).toEqual({ A: { value: "k3y ", secret: true }, B: { value: "k3y ", secret: false } });
    expect(ran).toEqual([["/bin/pass", "show", "a"]]);
  });

  test.each([
    ["darwin", "/bin/security find-generic-password -s mail -a me/work -w"],
    ["linux", "/bin/secret-tool lookup service mail account me/work"],
  ] as const)("is read from the key chain of %s", async (platform, command) => {
    const { machine: host } = machine({ [command]: "k3y\n" }, { platform });
    const { variables } = await resolve({
      settings: { env: { API_KEY: { keychain: { service: "mail", account: "me/work" }, secret: true } } },
      machine: host,
    });
    expect(variables).toEqual({ API_KEY: { value: "k3y", secret: true } });
  });

  test.each([
    ["a program that fails", {}, reference(["pass"]), "`pass` failed"],
    ["a program that prints nothing", { "/bin/pass": "\n" }, reference(["pass"]), "printed nothing"],
    [
      "a key chain elsewhere",
      {},
      { keychain: { service: "a", account: "b" }, secret: true } as EnvironmentValue,
      "not supported on `win32`",
    ],
  ])("is missing with a reason that tells nothing else: %s", async (_, prints, value, words) => {
    const platform = words.includes("win32") ? "win32" : "linux";
    const { machine: host } = machine(prints, { platform });
    const { missing, diagnostics } = await resolve({ settings: { env: { API_KEY: value } }, machine: host });
    expect(missing).toEqual(["API_KEY"]);
    expect(diagnostics).toMatchObject([{ code: "secret.unresolved", severity: "error" }]);
    expect(diagnostics[0]?.message).toContain(words);
    expect(JSON.stringify(diagnostics)).not.toContain("hunter2");
  });

  test("is not fetched for a skill that may not have it", async () => {
    const { ran, machine: host } = machine({ "/bin/pass": "k3y" });
    await resolve({ settings: { env: { API_KEY: reference(["pass"]) } }, trust: UNTRUSTED, machine: host });
    expect(ran).toEqual([]);
  });

  test("needs a program of PATH or an absolute path: a project cannot bring one along", async () => {
    const folder = temporaryFolder();
    writeTree(folder, { "bin/pass": "#!/bin/sh\necho k3y\n" });
    chmodSync(join(folder, "bin/pass"), 0o755);
    const findCommand = createCommandFinder({ PATH: `:./bin:${join(folder, "bin")}` });
    const { ran, machine: host } = machine({}, { findCommand });
    await resolve({ settings: { env: { API_KEY: reference(["pass"]) } }, machine: host });
    const { diagnostics } = await resolve({
      settings: { env: { API_KEY: reference(["./pass"]) } },
      machine: host,
    });
    expect(ran).toEqual([[join(folder, "bin/pass")]]);
    expect(diagnostics[0]?.message).toContain("`./pass` is not on PATH");
  });
});

describe("missing variables", () => {
  verifies([164, "case 72"], "are all named, with the lines to add to the config", () => {
    const skill = declaring("API_KEY", "REGION", "PRESENT", "FETCHED", "PATH");
    const env = { PRESENT: text("x"), REGION: text(""), FETCHED: { command: ["pass"], secret: true } };
    expect(missingVariables({ skill, settings: { env } })).toEqual({
      names: ["API_KEY", "REGION"],
      lines: ["[skills.research]", 'API_KEY = "…"', 'REGION = "…"'],
    });
    expect(missingVariables({ skill, settings: { env }, given: { API_KEY: "x", REGION: "y" } })).toEqual({
      names: [],
      lines: [],
    });
  });

  test("quote a name that TOML would not take, and give no lines where the config has another meaning", () => {
    const lines = (name: string) =>
      missingVariables({ skill: { ...declaring("KEY"), name }, settings: { env: {} } }).lines;
    expect(lines("größe")[0]).toBe('[skills."größe"]');
    expect(lines("paths")).toEqual([]);
  });
});
