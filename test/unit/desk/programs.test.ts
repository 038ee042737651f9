/** The programs of the desk as they are started: the bridge with strange input, and `metier-desk`. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ROOT } from "../../support/repository.ts";
import { temporaryFolder } from "../../support/temporary.ts";

function command(program: string, ...args: readonly string[]): readonly string[] {
  return ["--no-warnings", join(ROOT, "src", "desk", program), ...args];
}

function environment(home: string): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: home };
}

describe("the bridge", () => {
  function ask(...lines: readonly string[]) {
    const { stdout, stderr, status } = spawnSync(process.execPath, command("bridge.ts"), {
      input: lines.join("\n"),
      encoding: "utf8",
      env: environment(temporaryFolder()),
    });
    return {
      answers: stdout
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
      stderr,
      status,
    };
  }
  const request = (more: object): string =>
    JSON.stringify({
      version: 1,
      id: "cap_bridge_1",
      namespace: "desk",
      method: "definitions",
      params: {},
      ...more,
    });

  test("answers what is asked and refuses what is not in the protocol, each by its id", () => {
    const { answers, status, stderr } = ask(
      request({ id: "a" }),
      "",
      request({ id: "b", version: 2 }),
      request({ id: "c", namespace: "other" }),
      request({ id: "d", method: "format_disk" }),
      request({ id: "e", method: "constructor" }),
      request({ id: "f", method: "invoke" }),
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const byId = Object.fromEntries(answers.map((answer) => [answer.id, answer]));
    expect(byId.a.result.definitions.map(({ id }: { id: string }) => id)).toEqual([
      "desk.mail",
      "desk.calendar",
    ]);
    for (const id of ["b", "c", "d", "e", "f"])
      expect(byId[id]).toEqual({
        version: 1,
        id,
        error: { code: "capability_invalid_input", message: expect.stringMatching(/\.$/) },
      });
    expect(byId.f.error.message).toContain("(missing)");
  });

  test.each([["no JSON"], ["[]"], ['{"version":1}'], ['{"id":"x","params":[]}']])(
    "ends with a fault where %j stands for a request",
    (line) => {
      expect(ask(line)).toEqual({
        answers: [],
        stderr: expect.stringContaining("desk: A line is no request of `bridge-v1`"),
        status: 1,
      });
    },
  );
});

describe("`metier-desk`", () => {
  function run(home: string, ...args: readonly string[]) {
    return spawnSync(process.execPath, command("program.ts", ...args), {
      encoding: "utf8",
      env: environment(home),
    });
  }

  test("makes an account, private, with a passcode that is shown once", () => {
    const home = temporaryFolder();
    const { stdout, status } = run(home, "add", "anna", "--email", "anna@example.org");
    expect(status).toBe(0);
    const [passcode = ""] = /\S+$/.exec(stdout.trim()) ?? [];
    expect(passcode).toMatch(/^(?:[a-z2-9]{4}-){3}[a-z2-9]{4}$/);
    const folder = join(home, ".metier", "desk", "anna");
    for (const part of ["mail/new", "mail/cur", "mail/tmp", "calendar"])
      expect(existsSync(join(folder, part))).toBe(true);
    expect(readFileSync(join(folder, "account.json"), "utf8")).not.toContain(passcode);
    expect(run(home, "add", "anna", "--email", "anna@example.org")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("There is an account `anna`"),
    });
  });

  test.each([
    [["add", "../anna", "--email", "a@b.c"], "`../anna` is no account"],
    [["add", "anna"], "`` is no address"],
    [["serve", "--port", "99999"], "`99999` is no port"],
    [["fly"], "There is no `fly`"],
    [["--fly"], "Unknown option '--fly'"],
  ])("does not take %j", (args, message) => {
    expect(run(temporaryFolder(), ...args)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(message),
    });
  });

  test("serves until it is told to end, and says where", async () => {
    const home = temporaryFolder();
    const server = spawn(
      process.execPath,
      command("program.ts", "serve", "--port", "0", "--root", join(home, "x y")),
      {
        env: environment(home),
      },
    );
    onTestFinished(() => void server.kill("SIGKILL"));
    const [line] = (await once(server.stdout, "data")) as [Buffer];
    const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(String(line)) ?? [];
    expect((await fetch(`${url}/device`)).status).toBe(200);
    server.kill("SIGTERM");
    expect(await once(server, "exit")).toEqual([0, null]);
  });
});
