/** The skill and the provider of `examples/desk`, end to end: a run in a sandbox reads a user's mail. */
import { cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { RunEvent } from "@metier/run/events";
import type { Script } from "@metier/run/model";
import { expect, test } from "vitest";
import {
  DESK_COMMAND,
  DESK_SKILL,
  type ExampleDesk,
  openExampleDesk,
  putMail,
} from "../support/desk-example.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { bash, createRunWorld, eventsOf, openRuns, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";

const ALICE = { userId: "alice", chatId: "42", chatType: "private" } as const;
const INVOKE = "metier-sb capability invoke -c desk.mail -o";

/** A user who has the skill and the provider, with an account for Anna, and whose skill `probe` may use it, too. */
async function openDeskRuns(script: Script) {
  const world = createRunWorld({ probe: ["capabilities: [desk.mail]"] });
  const desk = await openExampleDesk(join(world.home, "accounts"), ["anna"]);
  const account = join(desk.root, "anna");
  putMail(account, "2.lunch", "Lunch?", "At noon in the old harbour.");
  cpSync(DESK_SKILL, join(world.home, ".metier", "skills", "desk"), { recursive: true });
  world.write({
    "home/.metier/config.toml": [
      "[capabilities.providers.desk]",
      `command = ${JSON.stringify(DESK_COMMAND)}`,
      "persistent = true",
      "[capabilities.providers.desk.env]",
      `DESK_ROOT = { value = ${JSON.stringify(desk.root)}, secret = false }`,
      `DESK_SERVER = { value = ${JSON.stringify(desk.url)}, secret = false }`,
    ].join("\n"),
  });
  const runs = await openRuns(world, script);
  /** Before the run begins, as `metier capability auth` does it. */
  const link = async (): Promise<void> => {
    const { auth } = runs.metier.capabilities;
    const begun = await auth.begin({ capability: "desk.mail" }, { caller: ALICE });
    if (!begun.ok) throw new Error(begun.fault.message);
    await desk.decideOnPage(begun.value.authUrl, "anna");
    expect(await auth.poll(begun.value.flowId, { caller: ALICE })).toMatchObject({
      value: { status: "complete" },
    });
  };
  return { ...runs, ...desk, world, account, link };
}

/** The user, who goes to the page as soon as the run shows it. The run may end before they have decided. */
function approveWhenShown({ decideOnPage }: ExampleDesk): {
  readonly onEvent: (event: RunEvent) => void;
  readonly decided: Promise<number>;
} {
  const { promise: decided, resolve } = Promise.withResolvers<number>();
  const onEvent = (event: RunEvent): void => {
    const [, url] = (event.type === "tool-finished" && /"auth_url": "([^"]+)"/.exec(event.text ?? "")) || [];
    if (url !== undefined) resolve(decideOnPage(url, "anna"));
  };
  return { onEvent, decided };
}

describeSandbox("a run of the example skill `desk`", () => {
  verifies([172, 175], "has an account linked, reads mail, and is approved for that alone", async () => {
    const opened = await openDeskRuns([
      bash(`${INVOKE} list_messages`),
      bash("metier-sb capability auth begin -c desk.mail", {
        toolResult: { contains: ["capability_auth_required"] },
      }),
      bash("cat /etc/passwd", { toolResult: { contains: ["user_code", "/device?user_code="] } }),
      says("Please go to the page."),
      bash(`${INVOKE} list_messages --input-json '{"unread_only": true}'`),
      bash(`${INVOKE} read_message --input-json '{"id": "2.lunch"}'`, {
        toolResult: { contains: ["Lunch?"] },
      }),
      says("Bob asks for lunch.", { toolResult: { contains: ["At noon in the old harbour."] } }),
    ]);
    const { run, metier } = opened;
    const { onEvent, decided } = approveWhenShown(opened);
    const { result: begun } = await run({ skill: "desk", caller: ALICE, onEvent });
    expect(begun).toMatchObject({ status: "completed", trust: "trusted", denied: [{ tool: "bash" }] });
    expect(await decided).toBe(200);
    const { auth } = metier.capabilities;
    const flows = await auth.list({}, { caller: ALICE });
    const [flow] = flows.ok ? flows.value : [];
    expect(await auth.poll(flow?.flowId ?? "", { caller: ALICE })).toMatchObject({
      value: { status: "complete", accountEmail: "anna@example.org" },
    });
    const { result } = await run({ skill: "desk", caller: ALICE });
    expect(result).toMatchObject({ status: "completed", text: "Bob asks for lunch.", denied: [] });
    expect(result.capabilities).toEqual([
      { capability: "desk.mail", operation: "list_messages", calls: 1, failed: 0 },
      { capability: "desk.mail", operation: "read_message", calls: 1, failed: 0 },
    ]);
  });

  verifies(172, "changes nothing before a person has confirmed it", async () => {
    const archive = `${INVOKE} archive_message -k one --input-json '{"id": "2.lunch"}'`;
    const { run, account, link } = await openDeskRuns([
      bash(archive),
      says("It waits for you.", { toolResult: { contains: ["capability_mutation_not_confirmed"] } }),
      bash(archive),
      says("Filed.", { toolResult: { contains: ['"folder": "Archive"'] } }),
    ]);
    await link();
    await run({ skill: "desk", caller: ALICE, approve: "all" });
    expect(readdirSync(join(account, "mail", "new"))).toEqual(["1.anna", "2.lunch"]);
    const { result } = await run({ skill: "desk", caller: ALICE, confirm: async () => "yes" as const });
    expect(result.text).toBe("Filed.");
    expect(readdirSync(join(account, "mail", ".Archive", "cur"))).toEqual(["2.lunch:2,"]);
  });
});

describeSandbox("a run with the desk, in a sandbox without network", () => {
  test("reaches the host by `metier-sb` and by nothing else", async () => {
    const probe = (url: string, root: string): string =>
      [
        `${INVOKE} list_messages | grep -o 'Lunch?'`,
        `ls "${root}" 2>&1 | head -1`,
        `ls "$HOME/.metier" 2>&1 | head -1`,
        `node -e 'fetch("${url}/device").then(() => console.log("REACHED"), () => console.log("no way"))'`,
        "grep -c ':' /proc/net/dev",
        "find /run /tmp /var -exec test -S {} \\; -print 2>/dev/null",
        "env | grep -c -E 'DESK|SECRET|ASH_' || true",
      ].join("; echo ---; ");
    const script: Script = [
      { answer: { toolCalls: [{ tool: "bash", input: { command: "sh probe.sh" } }] } },
      says("Done."),
    ];
    const { run, url, root, link, world } = await openDeskRuns(script);
    world.write({ "project/probe.sh": `${probe(url, root)}\n` });
    await link();
    const { result, events } = await run({ skill: "probe", caller: ALICE, approve: "all" });
    expect(result.status).toBe("completed");
    const [probed] = eventsOf(events, "tool-finished");
    const output = (probed?.text ?? "").replace("Exit code 0.\nstdout:\n", "");
    const parts = output.split("---").map((part) => part.trim());
    expect(parts).toEqual([
      "Lunch?",
      expect.stringMatching(/No such file|cannot access/),
      expect.stringMatching(/No such file|cannot access|^$/),
      "no way",
      "1",
      "/run/metier/capability.sock",
      "0",
    ]);
    expect(existsSync(join(root, "anna", "mail", "new", "2.lunch"))).toBe(true);
  });
});
