/** A durable run in a real terminal: answered there, given back with Ctrl-C, killed, and taken up again. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../../../test/support/processes.ts";
import { CTRL_C, describeTerminal, inPseudoTerminal } from "../../../test/support/pseudo-terminal.ts";
import { ROOT } from "../../../test/support/repository.ts";
import { sandboxTest } from "../../../test/support/sandbox.ts";
import { durableWorld, WRITES } from "./durable-world.ts";

const START = ["run", "writer", "Go.", "--durable", "--write"];
const GO_ON = /Continue it with: metier runs resume (\S+)/;

describeTerminal("metier run --durable in a terminal", () => {
  test("shows the answer as it comes, asks, and goes on with the answer", async () => {
    const world = await durableWorld([WRITES]);
    const keys = [{ after: "Allow? ", send: "y\r" }];
    const { lines, code } = await inPseudoTerminal(world, START, { keys });
    expect(code).toBe(0);
    expect(lines).toContain("One moment.");
    expect(lines).toContain("▸ write_file note.txt");
    expect(lines.filter((line) => line === "All done.")).toHaveLength(1);
    expect(lines.at(-2)).toMatch(/^2 steps, /);
    expect(readFileSync(join(world.project, "note.txt"), "utf8")).toBe("hello");
  });

  test("Ctrl-C at a question gives the run back; it is asked again when the run goes on", async () => {
    const world = await durableWorld([WRITES]);
    const stop = [{ after: "Allow? ", send: CTRL_C }];
    const { lines, code } = await inPseudoTerminal(world, START, { keys: stop });
    expect(code).toBe(130);
    const [, runId = ""] = GO_ON.exec(lines.join("\n")) ?? [];
    const keys = [{ after: "Allow? ", send: "y\r" }];
    const resumed = await inPseudoTerminal(world, ["runs", "resume", runId], { keys });
    expect(resumed.code).toBe(0);
    expect(resumed.lines).toContain("All done.");
    expect(world.asked()).toBe(2);
  });

  test("Ctrl-C while the model answers gives the run back, and nothing is lost but that answer", async () => {
    let isSlow = true;
    const world = await durableWorld([WRITES], {
      get last() {
        return isSlow ? { pieces: ["Half of"], hangs: true } : { pieces: ["All done."] };
      },
    });
    const keys = [
      { after: "Allow? ", send: "y\r" },
      { after: "Half of", send: CTRL_C },
    ];
    const { lines, code } = await inPseudoTerminal(world, START, { keys });
    expect(code).toBe(130);
    const [, runId = ""] = GO_ON.exec(lines.join("\n")) ?? [];
    isSlow = false;
    const resumed = await inPseudoTerminal(world, ["runs", "resume", runId]);
    expect(resumed.lines).toContain("All done.");
    expect(resumed.code).toBe(0);
    expect(world.asked()).toBe(3);
  });
});

sandboxTest(
  "a run whose process is killed goes on at once, and repeats nothing that was recorded",
  async () => {
    const bash = (command: string) => ({ tool: "bash", input: { command } });
    const calls = [bash('echo a >> "$METIER_WORK_DIR/a"'), bash('sleep 3; cat "$METIER_WORK_DIR/a"')];
    const world = await durableWorld(calls, { more: '[tools]\nbash = "allow"\n' });
    const main = join(ROOT, "packages/cli/src/main.ts");
    const words = ["run", "writer", "Go.", "--durable", "--home", world.home];
    const started = spawn(process.execPath, ["--no-warnings", main, ...words], { cwd: world.project });
    let said = "";
    started.stderr.on("data", (piece: Buffer) => {
      said += piece.toString();
    });
    await until("the second command works", () => said.includes("▸ bash sleep"));
    started.kill("SIGKILL");
    await new Promise((resolve) => started.once("exit", resolve));
    const [{ runId, status }] = (await world.cli("runs", "--json")).json.durable;
    expect(status).toBe("interrupted");
    const { code, stdout } = await world.cli("runs", "resume", runId);
    expect([code, stdout]).toEqual([0, "All done.\n"]);
    expect(world.asked()).toBe(3);
    const { json } = await world.cli("runs", "show", runId, "--json");
    const texts = json.steps.flatMap((step: { calls: { text: string }[] }) =>
      step.calls.map(({ text }) => text),
    );
    expect(texts).toHaveLength(2);
    expect(texts.at(1)).toMatch(/stdout:\na$/);
  },
);

sandboxTest(
  "Ctrl-C in the middle of a call leaves a run that says so, and goes on when it is told to",
  async () => {
    const calls = [{ tool: "bash", input: { command: "sleep 6; echo slept" } }];
    const world = await durableWorld(calls, { more: '[tools]\nbash = "allow"\n' });
    const main = join(ROOT, "packages/cli/src/main.ts");
    const words = ["run", "writer", "Go.", "--durable", "--home", world.home];
    const started = spawn(process.execPath, ["--no-warnings", main, ...words], { cwd: world.project });
    let said = "";
    started.stderr.on("data", (piece: Buffer) => {
      said += piece.toString();
    });
    await until("the command works", () => said.includes("▸ bash sleep"));
    expect((await world.cli("runs", "--json")).json.durable).toMatchObject([{ status: "running" }]);
    const ended = new Promise((resolve) => started.once("exit", resolve));
    started.kill("SIGINT");
    expect(await ended).toBe(130);
    const [, runId = ""] = GO_ON.exec(said) ?? [];
    expect(said).toContain("The run was interrupted");
    const { stdout } = await world.cli("runs");
    expect(stdout).toMatch(new RegExp(`${runId} .* interrupted`));
    expect(stdout).toContain(`metier runs resume ${runId}`);
    const resumed = await world.cli("runs", "resume", runId);
    expect([resumed.code, resumed.stdout]).toEqual([0, "All done.\n"]);
  },
);
