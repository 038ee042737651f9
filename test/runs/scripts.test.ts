/** Scripts of skills that a program asks for, without a model; and the programs that run them. */
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { runFolder } from "@metier/run/events";
import { createMetierUnder } from "@metier/runtime";
import { expect, test } from "vitest";
import { withGrowingTime } from "../support/growing-time.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { createScriptWorld } from "../support/script-world.ts";
import { calls, eventsOf, openRuns, readLog, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import type { World } from "../support/world.ts";

const KEY = "pplx-4711-do-not-show";

describeSandbox("metier.script", () => {
  verifies(
    [137, 182],
    "runs a script in the sandbox, and keeps exit code, streams, files and a log",
    async () => {
      const world = createScriptWorld({
        demo: { "scripts/run.sh": 'pwd; echo "$1" >&2; echo kept > "$METIER_WORK_DIR/out.txt"; cat; exit 3' },
      });
      const metier = await world.metier();
      const heard: string[] = [];
      const result = await metier.script({
        skill: "demo",
        script: "scripts/run.sh",
        args: ["a b"],
        stdin: { city: "Oslo" },
        onOutput: (stream, text) => void heard.push(`${stream}: ${text}`),
      });
      const folder = join(world.home, ".metier/skills/demo");
      expect(result).toMatchObject({
        skill: "demo",
        script: "scripts/run.sh",
        status: "failed",
        ended: "exited",
        exitCode: 3,
        stdout: `${folder}\n{"city":"Oslo"}`,
        stderr: "a b\n",
        trust: "trusted",
        files: [{ path: "out.txt", size: 5 }],
        sandbox: { backend: "bubblewrap" },
        error: { code: "script.failed", message: "`scripts/run.sh` exited with code 3." },
      });
      expect(heard.join("")).toContain("stderr: a b\n");
      const log = readLog(world, result.runId);
      expect(log.map(({ type }) => type)).toEqual([
        "run-started",
        "tool-called",
        "tool-finished",
        "run-finished",
      ]);
      expect(eventsOf(log, "run-finished")[0]).toMatchObject({ status: "failed", iterations: 0 });
    },
  );

  test("reads a stream as it comes, and gives JSON output as a value", async () => {
    const world = createScriptWorld({
      demo: { "count.py": "import json, sys\nprint(json.dumps({'lines': len(sys.stdin.readlines())}))" },
    });
    const stdin = Readable.from(["one\n", Buffer.from("two\n")]);
    const result = await (await world.metier()).script({ skill: "demo", script: "count.py", stdin });
    expect(result).toMatchObject({ status: "completed", exitCode: 0, json: { lines: 2 } });
    expect(result).not.toHaveProperty("error");
  });

  verifies([137, 182], "gives declared variables alone, and shows no secret", async () => {
    const world = createScriptWorld(
      { demo: { "env.sh": 'echo "$SEARCH_KEY"; env | grep -c UNDECLARED; true' } },
      {
        demo: "env: [SEARCH_KEY]",
      },
    );
    world.write({ "home/.metier/config.toml": `[skills.demo]\nSEARCH_KEY = "${KEY}"\nUNDECLARED = "x"\n` });
    const metier = await world.metier();
    const told: string[] = [];
    const result = await metier.script({
      skill: "demo",
      script: "env.sh",
      onOutput: (_, text) => void told.push(text),
    });
    expect(result.stdout).toBe("[redacted:SEARCH_KEY]\n0\n");
    expect(told.join("")).toBe(result.stdout);
    expect(JSON.stringify(readLog(world, result.runId))).not.toContain(KEY);
  });

  test("is refused as a run of the skill would be", async () => {
    const world = createScriptWorld(
      { demo: { "a.sh": "echo ran" }, needy: { "a.sh": "echo ran" } },
      {
        needy: "env: [MISSING_KEY]",
      },
    );
    world.write({ "home/.metier/config.toml": '[skills]\ndisabled = ["demo"]\n' });
    const metier = await world.metier();
    const ask = (name: string) => metier.script({ skill: name, script: "a.sh" });
    expect(await ask("demo")).toMatchObject({
      status: "refused",
      refusal: { reason: "disabled" },
      stdout: "",
    });
    expect(await ask("needy")).toMatchObject({ status: "refused", refusal: { reason: "environment" } });
    expect(await ask("none")).toMatchObject({ status: "refused", refusal: { reason: "not-found" } });
  });

  test("needs no input, no tools and no instructions, which are for a model", async () => {
    const schema = "input-schema: {type: object, required: [a]}\nrequired-tools: [teleport]";
    const world = createScriptWorld({ demo: { "a.sh": "echo ran" } }, { demo: schema });
    const metier = await world.metier();
    expect((await metier.script({ skill: "demo", script: "a.sh" })).stdout).toBe("ran\n");
  });

  test("is denied by the config, whoever asks", async () => {
    const world = createScriptWorld({ demo: { "a.sh": "echo ran" } });
    world.write({ "home/.metier/config.toml": '[tools]\nrun_script = "deny"\n' });
    const result = await (await world.metier()).script({ skill: "demo", script: "a.sh" });
    expect(result).toMatchObject({ status: "refused", stdout: "", error: { code: "tools.denied" } });
  });

  test("takes no longer than the policy allows, whatever is asked for", async () => {
    const world = createScriptWorld({ demo: { "sleep.sh": "sleep 1000" } });
    world.write({ "policy.toml": "[skills]\nscript-timeout-ms = 500\n" });
    const metier = await createMetierUnder(join(world.root, "policy.toml"), {
      cwd: world.project,
      home: world.home,
    });
    const result = await metier.script({ skill: "demo", script: "sleep.sh", timeoutMs: 600_000 });
    expect(result).toMatchObject({
      status: "limited",
      error: { message: expect.stringContaining("0.5 s") },
    });
  });

  test("is told by a program in words: anything else is the program's fault", async () => {
    const metier = await createScriptWorld({ demo: { "a.sh": "echo" } }).metier();
    for (const word of [1, null, undefined]) {
      const args = ["a", word] as string[];
      const asked = metier.script({ skill: "demo", script: "a.sh", args });
      await expect(asked).rejects.toThrow(`must be a string, not \`${word}\``);
    }
  });

  test("sees the end of a standard input that breaks", async () => {
    const world = createScriptWorld({ demo: { "count.sh": "wc -l" } });
    async function* broken(): AsyncGenerator<string> {
      yield "one\n";
      throw new Error("The source broke.");
    }
    const result = await (await world.metier()).script({
      skill: "demo",
      script: "count.sh",
      stdin: broken(),
    });
    expect(result).toMatchObject({ status: "completed", stdout: "1\n" });
  });

  test("goes on when a listener fails", async () => {
    const world = createScriptWorld({ demo: { "a.sh": "echo one; echo two" } });
    const onOutput = (): never => {
      throw new Error("The listener broke.");
    };
    const result = await (await world.metier()).script({ skill: "demo", script: "a.sh", onOutput });
    expect(result).toMatchObject({ status: "completed", stdout: "one\ntwo\n" });
  });

  test("leaves no folder behind when there is nothing to run", async () => {
    const world = createScriptWorld({ demo: { "a.sh": "echo ran" } });
    const metier = await world.metier();
    const result = await metier.script({ skill: "demo", script: "../demo/a.sh" });
    expect(result).toMatchObject({ status: "failed", ended: "refused", error: { code: "script.missing" } });
    expect(existsSync(runFolder(metier.places, result.runId).folder)).toBe(false);
    expect(await metier.script({ skill: "demo", script: "SKILL.md" })).toMatchObject({
      error: { code: "script.unusable" },
    });
  });

  verifies(
    137,
    "is stopped after its time and when it is cancelled, with everything it started",
    async () => {
      const world = createScriptWorld({ demo: { "sleep.sh": "echo begun; sleep 1000 & sleep 1000" } });
      const metier = await world.metier();
      const { outcome, timeoutMs } = await withGrowingTime(
        (time) => metier.script({ skill: "demo", script: "sleep.sh", timeoutMs: time }),
        ({ stdout }) => stdout !== "",
      );
      expect(outcome).toMatchObject({
        status: "limited",
        ended: "timeout",
        stdout: "begun\n",
        error: { code: "script.stopped", message: expect.stringContaining(`${timeoutMs / 1000} s`) },
      });
      const stop = new AbortController();
      const onOutput = (): void => stop.abort();
      const { signal } = stop;
      expect(await metier.script({ skill: "demo", script: "sleep.sh", signal, onOutput })).toMatchObject({
        status: "cancelled",
        ended: "cancelled",
      });
      await expect(metier.script({ skill: "demo", script: "sleep.sh", timeoutMs: 0 })).rejects.toThrow(
        "above 0",
      );
    },
  );

  test("keeps a million characters of a stream, and the whole of a longer one in the work folder", async () => {
    const world = createScriptWorld({ demo: { "flood.py": "print('x' * 3_000_000)" } });
    const metier = await world.metier();
    const result = await metier.script({ skill: "demo", script: "flood.py" });
    expect(result.stdout).toBe("x".repeat(1024 * 1024));
    expect(result.files).toEqual([{ path: "output/script-stdout.txt", size: 3_000_001 }]);
    expect(result.diagnostics.map(({ code }) => code)).toContain("script.output-long");
  });
});

describeSandbox("programs that a script asks for", () => {
  /** A stand-in for `uv` and `uvx` that says how it was called. */
  function bringUv(world: World): void {
    world.write({
      "tools/uv": '#!/bin/sh\necho "uv called with: $*"\n',
      "tools/uvx": '#!/bin/sh\necho "uvx called with: $*"\n',
      "home/.metier/config.toml": `[sandbox]\nprograms = ["${world.root}/tools/uv", "${world.root}/tools/uvx"]\n`,
    });
    for (const name of ["uv", "uvx"]) chmodSync(join(world.root, "tools", name), 0o755);
  }
  const FILES = {
    "needs.py": '# /// script\n# dependencies = ["rich"]\n# ///\nprint(1)\n',
    lint: "#!/usr/bin/env -S uvx ruff check\n",
  };

  verifies([99], "a Python script with dependencies is handed to uv", async () => {
    const world = createScriptWorld({ demo: FILES });
    bringUv(world);
    const result = await (await world.metier()).script({ skill: "demo", script: "needs.py", args: ["--x"] });
    const file = join(world.home, ".metier/skills/demo/needs.py");
    expect(result).toMatchObject({
      status: "completed",
      stdout: `uv called with: run --script ${file} --x\n`,
    });
  });

  verifies([100], "a command-line tool is run by uvx", async () => {
    const world = createScriptWorld({ demo: FILES });
    bringUv(world);
    const { run } = await openRuns(world, [
      calls("run_script", { script: "lint" }),
      calls(
        "bash",
        { command: "uvx ruff --version" },
        { toolResult: { matches: "uvx called with: ruff check .+/lint" } },
      ),
      says("Done.", { toolResult: "uvx called with: ruff --version" }),
    ]);
    expect((await run({ skill: "demo", approve: "all" })).result.status).toBe("completed");
  });

  verifies([99, 100], "what is missing is said, with how to get it", async () => {
    const world = createScriptWorld({ demo: FILES });
    const metier = await world.metier();
    expect(await metier.script({ skill: "demo", script: "needs.py" })).toMatchObject({
      status: "failed",
      exitCode: 127,
      error: {
        code: "program.missing",
        message: expect.stringContaining("`needs.py` needs `rich`, which `uv`"),
      },
    });
    const { run } = await openRuns(world, [
      calls("bash", { command: "uvx ruff check ." }),
      says("Done.", { toolResult: '`[sandbox] programs = ["uvx"]`' }),
    ]);
    expect((await run({ skill: "demo", approve: "all" })).result.status).toBe("completed");
  });

  test.each(["ruby", "deno", "bun"])("so it is for %s", async (program) => {
    const world = createScriptWorld({ demo: { script: `#!/usr/bin/env ${program}\n` } });
    const { error } = await (await world.metier()).script({ skill: "demo", script: "script" });
    if (error === undefined) return; // This machine has it.
    expect(error.code).toBe("program.missing");
    expect(error.message).toContain(`The sandbox has no \`${program}\`.`);
  });
});
