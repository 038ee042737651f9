import { CancelledError } from "@metier/base/errors";
import { runCli } from "@metier/cli";
import { describe, expect, test } from "vitest";
import { createNotesWorld, QUIET_PATH } from "../support/notes-bridge.ts";
import { verifies } from "../support/verifies.ts";
import type { World } from "../support/world.ts";

interface LiveCommand {
  /** Everything that was written so far. */
  text(): string;
  interrupt(): void;
  readonly ended: Promise<number>;
}

/** A command in a terminal that goes on while the test does something. */
function startCommand(
  world: World,
  args: readonly string[],
  ask?: (question: string) => Promise<string>,
): LiveCommand {
  let text = "";
  let interrupt = (): void => undefined;
  const stream = {
    write(part: string) {
      text += part;
    },
  };
  const ended = runCli([...args, "--home", world.home], {
    stdout: stream,
    stderr: stream,
    cwd: world.project,
    environment: { PATH: QUIET_PATH },
    interactive: ask !== undefined,
    color: false,
    ask: ask ?? (() => Promise.reject(new Error("nobody to ask"))),
    readLine: async () => ({ kind: "end" }),
    onInterrupt(end) {
      interrupt = end;
      return () => undefined;
    },
  });
  return { text: () => text, interrupt: () => interrupt(), ended };
}

describe("a sign-in with a device code", () => {
  verifies("case 122", "is begun by one command and completed by others", async () => {
    const world = createNotesWorld();
    const begun = await world.cli("capability", "auth", "begin", "notes.diary");
    const flow = /^flow: (caf_[0-9a-f]{24})$/m.exec(begun.stdout)?.[1] ?? "";
    expect(begun.stdout).toContain("open: https://notes.example/device\ncode to enter there: ABCD-EFGH\n");
    expect(begun.stdout).toContain(`then: metier capability auth poll ${flow} --wait\n`);
    const listed = await world.cli("capability", "auth", "list", "--json");
    expect(listed.json.flows).toMatchObject([{ flowId: flow, capability: "notes.diary" }]);
    const pending = await world.cli("capability", "auth", "poll", flow);
    expect([pending.code, pending.stdout]).toEqual([
      1,
      `flow: ${flow}\nstatus: pending\nask again in: 1 s\n`,
    ]);
    const done = await world.cli("capability", "auth", "poll", flow, "--wait", "--json");
    expect([done.code, done.json]).toEqual([
      0,
      {
        status: "complete",
        flowId: flow,
        capability: "notes.diary",
        accountRef: "acc-1",
        accountName: "Diary",
        accountEmail: "d@notes.example",
      },
    ]);
    const used = await world.cli("capability", "invoke", "notes.diary", "read", "--json");
    expect(used.json).toMatchObject({ account: "acc-1", output: { account: "acc-1" } });
    const other = await world.cli(
      "capability",
      "invoke",
      "notes.diary",
      "read",
      "--user",
      "mallory",
      "--json",
    );
    expect(other.json.error.code).toBe("capability_auth_required");
  });

  test("is finished by `auth begin --listen` alone, and Ctrl-C ends a wait", async () => {
    const world = createNotesWorld();
    const waiting = startCommand(world, ["capability", "auth", "begin", "notes.diary", "--listen"]);
    await expect.poll(waiting.text, { timeout: 8000 }).toContain("Waiting for the sign-in");
    waiting.interrupt();
    expect(await waiting.ended).toBe(130);
    expect(waiting.text()).toContain("error: Cancelled.");
    const { code, json, stderr } = await world.cli(
      "capability",
      "auth",
      "begin",
      "notes.diary",
      "--listen",
      "--json",
    );
    expect([code, json.accountRef]).toEqual([0, "acc-1"]);
    expect(stderr).toContain("open: https://notes.example/device");
  });
});

describe("a sign-in in a browser", () => {
  test("is completed by what the user pastes at a question, and by nobody without one", async () => {
    const world = createNotesWorld();
    const begun = await world.cli("capability", "auth", "begin", "notes.web", "--json");
    const { flowId } = begun.json;
    const alone = await world.cli("capability", "auth", "complete", flowId);
    expect([alone.code, alone.stdout]).toEqual([2, ""]);
    expect(alone.stderr).toContain("`--code -`");
    const wrong = await world.cliAnswering(["bad"], "capability", "auth", "complete", flowId);
    expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining("(capability_auth_flow_denied)")]);
  });

  test("is completed by the address alone, which names the sign-in", async () => {
    const world = createNotesWorld();
    await world.cli("capability", "auth", "begin", "notes.web");
    const url = "http://127.0.0.1:1/callback?code=good&state=s1";
    const done = await world.cli("capability", "auth", "complete", "--callback-url", url);
    expect(done.stdout).toMatch(
      /^flow: caf_\w+\nstatus: complete\ncapability: notes\.web\naccount: acc-2\nname: Web\n$/,
    );
    const unlinked = await world.cli("capability", "auth", "unlink", "notes.web", "--json");
    expect(unlinked.json).toEqual({ capability: "notes.web", account: "acc-2" });
    const again = await world.cli("capability", "auth", "unlink", "notes.web", "--json");
    expect([again.code, again.json.error.code]).toEqual([2, "capability_invalid_input"]);
  });

  test("is completed by the browser itself, which comes back to where the command listens", async () => {
    const world = createNotesWorld();
    const waiting = startCommand(world, ["capability", "auth", "begin", "notes.web", "--listen"]);
    await expect.poll(waiting.text, { timeout: 8000 }).toContain("Waiting for the sign-in");
    const open = /^open: (.+)$/m.exec(waiting.text())?.[1] ?? "";
    const back = new URL(new URL(open).searchParams.get("redirect_uri") ?? "");
    expect(back.hostname).toBe("127.0.0.1");
    back.search = "?code=good&state=s1";
    const page = await fetch(back);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("Signed in")]);
    expect(await waiting.ended).toBe(0);
    expect(waiting.text()).toContain("status: complete\ncapability: notes.web\naccount: acc-2\n");
  });
});

test("Ctrl-C at the question about a change cancels the call, and nothing is done", async () => {
  const world = createNotesWorld();
  const flags = ["capability", "invoke", "notes.pad", "add", "--input", '{"text": "x"}'];
  const asked = startCommand(world, flags, () => Promise.reject(new CancelledError()));
  expect(await asked.ended).toBe(130);
  expect(asked.text()).toContain("(capability_cancelled)");
  expect(world.bridge.asked()).toEqual([]);
});
