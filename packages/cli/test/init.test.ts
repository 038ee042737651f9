/** `metier init` and the models part of `doctor`: a stand-in for Ollama on loopback, a real config file. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startProvider } from "../../../test/support/aimock.ts";
import { installClaude, type TestClaude } from "../../../test/support/claude-program.ts";
import { installLlama, writeGgufTurns } from "../../../test/support/llama-stand-in.ts";
import { type OllamaTurn, startOllama, type TestOllama } from "../../../test/support/ollama.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { createWorld, type World } from "../../../test/support/world.ts";
import { runCli } from "../src/run-cli.ts";

/** Where nobody listens. */
const NOBODY = "127.0.0.1:1";
const MODELS = [{ name: "qwen3:8b" }, { name: "llama3.2:3b", size: 3 }];

async function ollamaWorld(
  turns: readonly OllamaTurn[] = [{ text: "Ready." }],
): Promise<{ readonly world: World; readonly ollama: TestOllama; config(): string }> {
  const ollama = await startOllama(MODELS, turns);
  const world = createWorld({ environment: { PATH: "/usr/bin:/bin", OLLAMA_HOST: ollama.host } });
  const file = join(world.home, ".metier", "config.toml");
  return { world, ollama, config: () => (existsSync(file) ? readFileSync(file, "utf8") : "") };
}

describe("metier init", () => {
  test("[U3] with only Ollama, two commands lead to an answer", async () => {
    const { world, ollama, config } = await ollamaWorld([{ text: "Ready." }, { text: "Hello there." }]);
    const { code, stdout } = await world.cliAnswering([""], "init");
    expect(code).toBe(0);
    expect(stdout).toContain("1. Ollama qwen3:8b");
    expect(stdout).toContain("It answered: Ready.");
    expect(stdout).toMatch(/Wrote \[models\.default\] to .*config\.toml\.\n\nNext: metier chat\n$/);
    expect(config()).toBe(
      [
        "# Metier's default model. Written by `metier init`.",
        "# Ollama serves it on this machine; it needs no key, and nothing leaves the machine.",
        "# Set `context-tokens` to change the context size, `lean = false` to send all tools.",
        "[models.default]",
        'provider = "ollama"',
        'model = "qwen3:8b"',
        `base-url = "${ollama.url}"`,
        "",
      ].join("\n"),
    );
    expect(await world.cli("chat", "Hi.")).toMatchObject({ code: 0, stdout: "Hello there.\n" });
  });

  test("the second is taken when it is chosen; nonsense is asked again, and q writes nothing", async () => {
    const { world, config } = await ollamaWorld();
    const left = await world.cliAnswering(["9", "x", "q"], "init");
    expect(left).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("Type a number from 1 to 2, or q."),
    });
    expect(config()).toBe("");
    await world.cliAnswering(["2"], "init");
    expect(config()).toContain('model = "llama3.2:3b"');
  });

  test("a model that does not answer is not written: the reason is shown, and another can be chosen", async () => {
    const { world, config } = await ollamaWorld([{ status: 500, error: "out of memory" }, { text: "Yes." }]);
    const { code, stdout, stderr } = await world.cliAnswering(["1", "2"], "init");
    expect(stderr).toContain("It failed: ollama/qwen3:8b: 500: out of memory");
    expect(stdout).toContain("It answered: Yes.");
    expect(code).toBe(0);
    expect(config()).toContain("llama3.2:3b");
  });

  test("without a terminal it says what it would write; with --yes it writes the first that answers", async () => {
    const { world, config } = await ollamaWorld([{ status: 500, error: "out of memory" }, { text: "Yes." }]);
    const told = await world.cli("init");
    expect(told).toMatchObject({ code: 1, stderr: expect.stringContaining("Use `metier init --yes`.") });
    expect(told.stdout).toContain('  model = "qwen3:8b"');
    expect(config()).toBe("");
    expect((await world.cli("init", "--yes")).code).toBe(0);
    expect(config()).toContain("llama3.2:3b");
  });

  test("a default that is there is kept and tested, unless --replace or a yes says otherwise", async () => {
    const { world, config } = await ollamaWorld();
    const mine =
      '# mine\n[models.default]\nprovider = "ollama"\nmodel = "gone"\napi-key = "local-secret-key"\n';
    world.write({ "home/.metier/config.toml": mine });
    const kept = await world.cli("init", "--yes");
    expect(kept.code).toBe(6);
    expect(kept.stdout).toContain(
      "Kept ollama/gone as your default model. Use `--replace` to choose another.",
    );
    expect((await world.cliAnswering([""], "init")).stdout).toContain("Replace it? [y/N]");
    expect(config()).toBe(mine);
    expect((await world.cliAnswering(["y", "1"], "init")).code).toBe(0);
    expect(config()).toContain('model = "qwen3:8b"');
    expect(config()).not.toContain("local-secret-key");
    expect(config()).toContain("# mine");
    await world.cli("init", "--yes", "--replace");
    expect(config().match(/Written by/g)).toHaveLength(1);
  });

  test("with a key alone: its variable is written and its value appears nowhere", async () => {
    const provider = await startProvider([{ match: {}, response: { content: "Ready." } }]);
    const environment = {
      PATH: "/usr/bin:/bin",
      OLLAMA_HOST: NOBODY,
      ANTHROPIC_API_KEY: "sk-ant-0123456789-secret",
      ANTHROPIC_BASE_URL: `${provider.url}/v1`,
    };
    const world = createWorld({ environment });
    const { code, stdout, stderr } = await world.cliAnswering(["1"], "init");
    expect(code).toBe(0);
    const config = readFileSync(join(world.home, ".metier", "config.toml"), "utf8");
    expect(config).toContain('api-key-env = "ANTHROPIC_API_KEY"');
    expect(stdout + stderr + config).not.toContain("0123456789-secret");
  });

  test("a key that is refused is told with the status, and without the key", async () => {
    const refusal = { error: { message: "invalid key sk-ant-0123456789-secret" }, status: 401 };
    const provider = await startProvider([{ match: {}, response: refusal }]);
    const environment = {
      OLLAMA_HOST: NOBODY,
      ANTHROPIC_API_KEY: "sk-ant-0123456789-secret",
      ANTHROPIC_BASE_URL: `${provider.url}/v1`,
    };
    const world = createWorld({ environment });
    const { code, stdout, stderr } = await world.cli("init", "--yes");
    expect(code).toBe(6);
    expect(stderr).toMatch(/401: .*\n {2}The provider rejected the key/);
    expect(stdout + stderr).not.toContain("0123456789-secret");
  });

  test("with nothing at all it says where it looked and what to do, and exits 6", async () => {
    const world = createWorld({ environment: { PATH: "/usr/bin:/bin", OLLAMA_HOST: NOBODY } });
    const { code, stdout } = await world.cli("init");
    expect(code).toBe(6);
    expect(stdout).toContain("No model found.");
    expect(stdout).toContain("export ANTHROPIC_API_KEY=…");
    expect((await world.cli("chat", "Hi.")).stderr).toContain("Run `metier init`");
  });

  test("is one JSON value with --json, and asks nobody", async () => {
    const { world } = await ollamaWorld();
    const told = await world.cli("init", "--json");
    expect(told.json).toMatchObject({
      findings: { servers: [{ name: "Ollama" }], keys: [] },
      offers: [{ id: "ollama/qwen3:8b" }, { id: "ollama/llama3.2:3b" }],
      written: false,
      next: null,
    });
    const done = await world.cli("init", "--json", "--yes");
    expect(done.json).toMatchObject({
      chosen: "ollama/qwen3:8b",
      test: { ok: true, answer: "Ready." },
      written: true,
    });
  });
});

describe("metier init with the user's own programs", () => {
  function programWorld(): { readonly world: World; readonly claude: TestClaude; config(): string } {
    const bin = temporaryFolder();
    const claude = installClaude(bin);
    writeFileSync(join(bin, "codex"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const world = createWorld({ environment: { PATH: `${bin}:/usr/bin:/bin`, OLLAMA_HOST: NOBODY } });
    const file = join(world.home, ".metier", "config.toml");
    return { world, claude, config: () => (existsSync(file) ? readFileSync(file, "utf8") : "") };
  }

  test("[U3] `claude` is used after its terms are accepted, and started by nothing before", async () => {
    const { world, claude, config } = programWorld();
    const refused = await world.cliAnswering(["1", "y", "q"], "init");
    expect(refused.stdout).toContain("https://www.anthropic.com/legal");
    expect(refused.stdout).toMatch(/codex: .*\(not used: its shell tool can't be turned off\)/);
    expect(refused.code).toBe(1);
    expect((await world.cli("init", "--yes")).stderr).toContain("needs your consent");
    expect((await world.cli("doctor")).stdout).toContain(
      `found claude: ${claude.path} (used only after you accept`,
    );
    expect([config(), claude.starts()]).toEqual(["", []]);
    const accepted = await world.cliAnswering(["1", "accept"], "init");
    expect(accepted).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("It answered: Hello from claude."),
    });
    expect(config()).toMatch(
      /provider = "claude-program"\nprogram = ".*claude"\naccepted-terms = "\d{4}-\d\d-\d\d"/,
    );
    expect(await world.cli("chat", "Hi.")).toMatchObject({ code: 0, stdout: "Hello from claude.\n" });
  });

  test("one that the project brings along is neither offered nor started", async () => {
    const written: string[] = [];
    const root = temporaryFolder();
    const world = createWorld({ environment: { OLLAMA_HOST: NOBODY } });
    const inside = installClaude(join(world.project, "node_modules", ".bin"));
    const path = {
      PATH: `${join(world.project, "node_modules", ".bin")}:/usr/bin:/bin`,
      OLLAMA_HOST: NOBODY,
    };
    const code = await runCli(["init", "--json", "--home", root], {
      stdout: { write: (text) => void written.push(text) },
      stderr: { write: () => undefined },
      cwd: world.project,
      environment: path,
      interactive: false,
      color: false,
      ask: () => Promise.reject(new Error("asked")),
      readLine: () => Promise.reject(new Error("asked")),
      onInterrupt: () => () => undefined,
    });
    expect([code, JSON.parse(written.join("")).findings.programs, inside.starts()]).toEqual([6, [], []]);
  });
});

describe("[U3] metier init with GGUF files", () => {
  const environment = { PATH: "/usr/bin:/bin", OLLAMA_HOST: NOBODY };
  const turns = [{ text: "Ready." }];

  test("without the package they are named, with what to install, and exits 6", async () => {
    const world = createWorld({ environment });
    writeGgufTurns(join(world.home, "models", "qwen3-8b.gguf"), turns);
    const { code, stdout } = await world.cli("init");
    expect(code).toBe(6);
    expect(stdout).toMatch(/GGUF files found: qwen3-8b\. .*node-llama-cpp.*npm install -g node-llama-cpp/);
    expect((await world.cli("doctor")).stdout).toContain(
      "found GGUF files: qwen3-8b (unusable: node-llama-cpp is not installed next to Metier)",
    );
    const { stderr } = await world.cli("chat", "Hi.", "--model", "gguf:qwen3-8b");
    expect(stderr).toContain("npm install -g node-llama-cpp");
  });

  test("with it, one is offered, tested, written and used", async () => {
    const world = createWorld({ environment });
    const { folder } = installLlama(join(world.root, "elsewhere"));
    const path = writeGgufTurns(join(world.home, "models", "qwen3-8b.gguf"), turns);
    const other = writeGgufTurns(join(world.root, "given", "other.gguf"), turns);
    world.write({
      "home/.metier/config.toml": `[models.spare]\nprovider = "gguf"\npath = "${path}"\npackage = "${folder}"\n`,
    });
    const { code, stdout } = await world.cliAnswering([""], "init");
    expect(stdout).toContain(`1. GGUF qwen3-8b  (${path}, 1 MB)`);
    expect(stdout).toContain("It answered: Ready.");
    expect(code).toBe(0);
    const config = readFileSync(join(world.home, ".metier", "config.toml"), "utf8");
    expect(config).toContain(
      `[models.default]\nprovider = "gguf"\nmodel = "qwen3-8b"\npath = "${path}"\npackage = "${folder}"\n`,
    );
    expect(config).toContain("# The package node-llama-cpp loads this file into Metier's process;");
    const chatted = await world.cli("chat", "Hi.");
    expect([chatted.code, chatted.stdout, chatted.stderr]).toEqual([0, "Ready.\n", ""]);
    expect((await world.cli("doctor")).stdout).toContain(`default: gguf/qwen3-8b at ${path}\n`);
    const given = await world.cli("init", "../given", "--json");
    expect(given.json.findings.files).toMatchObject([{ name: "other", path: other }]);
    rmSync(path);
    expect((await world.cli("doctor")).stdout).toContain(
      `default: gguf/qwen3-8b at ${path} (\`${path}\` is not the absolute path of a readable GGUF file`,
    );
  });

  test("a project's config names neither file nor package, trusted or not", async () => {
    const world = createWorld({ environment });
    const { folder, requests } = installLlama(join(world.project, "node_modules"));
    const path = writeGgufTurns(join(world.project, "evil.gguf"), turns);
    world.write({
      "project/.metier/config.toml": `[models.default]\nprovider = "gguf"\npath = "${path}"\npackage = "${folder}"\n`,
    });
    await world.cli("trust", ".");
    const { code, stderr } = await world.cli("chat", "Hi.");
    expect(code).not.toBe(0);
    expect(stderr).toContain("does not name a GGUF file");
    const named = await world.cli("chat", "Hi.", "--model", "gguf:./evil.gguf");
    expect(named.stderr).toContain("not installed next to Metier");
    expect(requests()).toEqual([]);
  });
});

describe("[U3] metier doctor", () => {
  test("shows the default, what its key lacks, and what was found", async () => {
    const { world, ollama } = await ollamaWorld();
    expect((await world.cli("doctor")).stdout).toContain("no default model; run `metier init`");
    world.write({
      "home/.metier/config.toml":
        '[models.default]\nprovider = "anthropic"\n[models.fast]\nprovider = "openai"\nmodel = "gpt-x"\napi-key-env = "MY_KEY"\n',
    });
    const { stdout } = await world.cli("doctor");
    expect(stdout).toContain(
      "default: anthropic (no key: set `ANTHROPIC_API_KEY` or `models.default.api-key-env`)",
    );
    expect(stdout).toContain("fast: openai/gpt-x (`MY_KEY` is not set)");
    expect(stdout).toContain(`found Ollama at ${ollama.url}: qwen3:8b, llama3.2:3b`);
    expect((await world.cli("doctor", "--json")).json.models).toMatchObject({
      configured: [{ alias: "default", problem: expect.any(String) }, { alias: "fast" }],
      found: { servers: [{ name: "Ollama" }] },
    });
  });
});
