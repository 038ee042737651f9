/** The bundled skill `desk` with the provider that comes along, end to end: a run in a sandbox reads a user's mail. */
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunEvent } from "../../src/events/run-event.ts";
import type { Script } from "../../src/model/script.ts";
import type { MetierOptions } from "../../src/runtime/metier-options.ts";
import { decideOnPage, mail, makeAccount, putMail, serveDesk } from "../support/desk.ts";
import { ROOT } from "../support/repository.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { bash, createRunWorld, eventsOf, openRuns, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";

const ALICE = { userId: "alice", chatId: "42", chatType: "private" } as const;
const INVOKE = "metier-sb capability invoke -c desk.mail -o";

/** A user who has switched the desk on, with an account for Anna, and whose skill `probe` may use it, too. */
async function openDeskRuns(script: Script, options: MetierOptions = {}) {
  const world = createRunWorld({ probe: ["capabilities: [desk.mail]"] });
  const root = join(world.home, "accounts");
  const account = makeAccount(root, "anna");
  putMail(account, "1.lunch", mail("Lunch?", "At noon in the old harbour."));
  const { url } = await serveDesk(root);
  world.write({
    "home/.metier/config.toml": [
      "[skills.desk]",
      "enabled = true",
      "[capabilities.providers.desk]",
      "persistent = true",
      `env = { DESK_ROOT = ${JSON.stringify(root)} }`,
    ].join("\n"),
  });
  const runs = await openRuns(world, script, { bundled: true, ...options });
  /** Before the run begins, as `metier capability auth` does it. */
  const link = async (): Promise<void> => {
    const { auth } = runs.metier.capabilities;
    const begun = await auth.begin({ capability: "desk.mail" }, { caller: ALICE });
    if (!begun.ok) throw new Error(begun.fault.message);
    await decideOnPage(begun.value.authUrl, "anna");
    expect(await auth.poll(begun.value.flowId, { caller: ALICE })).toMatchObject({
      value: { status: "complete" },
    });
  };
  return { ...runs, world, root, account, url, link };
}

/** The user, who goes to the page as soon as the run shows it. */
function approveWhenShown(event: RunEvent): void {
  const [, url] = (event.type === "tool-finished" && /"auth_url": "([^"]+)"/.exec(event.text ?? "")) || [];
  if (url !== undefined) void decideOnPage(url, "anna");
}

describeSandbox("a run of the bundled skill `desk`", () => {
  verifies([94, 172, 175], "has an account linked, reads mail, and is approved for that alone", async () => {
    const { run, metier } = await openDeskRuns([
      bash(`${INVOKE} list_messages`),
      bash("metier-sb capability auth begin -c desk.mail", {
        toolResult: { contains: ["capability_auth_required"] },
      }),
      bash("cat /etc/passwd", { toolResult: { contains: ["user_code", "/device?user_code="] } }),
      says("Please go to the page."),
      bash(`${INVOKE} list_messages --input-json '{"unread_only": true}'`),
      bash(`${INVOKE} read_message --input-json '{"id": "1.lunch"}'`, {
        toolResult: { contains: ["Lunch?"] },
      }),
      says("Bob asks for lunch.", { toolResult: { contains: ["At noon in the old harbour."] } }),
    ]);
    const { result: begun } = await run({ skill: "desk", caller: ALICE, onEvent: approveWhenShown });
    expect(begun).toMatchObject({ status: "completed", trust: "trusted", denied: [{ tool: "bash" }] });
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
    const archive = `${INVOKE} archive_message -k one --input-json '{"id": "1.lunch"}'`;
    const { run, account, link } = await openDeskRuns([
      bash(archive),
      says("It waits for you.", { toolResult: { contains: ["capability_mutation_not_confirmed"] } }),
      bash(archive),
      says("Filed.", { toolResult: { contains: ['"folder": "Archive"'] } }),
    ]);
    await link();
    await run({ skill: "desk", caller: ALICE, approve: "all" });
    expect(readdirSync(join(account, "mail", "new"))).toEqual(["1.lunch"]);
    const { result } = await run({ skill: "desk", caller: ALICE, confirm: async () => "yes" as const });
    expect(result.text).toBe("Filed.");
    expect(readdirSync(join(account, "mail", ".Archive", "cur"))).toEqual(["1.lunch:2,"]);
  });

  verifies(176, "has no more than a copy of it in the user's own folder", async () => {
    const { metier, world, run } = await openDeskRuns([
      bash("metier-sb capability invoke -c gog.email -o list"),
      says("No.", { toolResult: { contains: ["capability_not_found"] } }),
    ]);
    const copy = join(world.home, ".metier", "skills", "copy");
    cpSync(join(ROOT, "skills", "desk"), copy, { recursive: true });
    const text = readFileSync(join(copy, "SKILL.md"), "utf8").replace("name: desk", "name: copy");
    writeFileSync(join(copy, "SKILL.md"), text.replace("opt-in: true\n", ""));
    await metier.reload();
    /** All that a run is given, without where its folders lie. */
    const outlineOf = async (skill: string) => {
      const plan = await metier.plan({ skill, caller: ALICE });
      if (!plan.ok) throw new Error("There is no plan.");
      const { tools, hooks, env, capabilities, limits, trust, sandbox } = plan.outline;
      const { backend, declared, granted, network } = sandbox;
      return { tools, hooks, env, capabilities, limits, trust, backend, declared, granted, network };
    };
    expect(await outlineOf("desk")).toEqual(await outlineOf("copy"));
    const group = { ...ALICE, chatType: "group" };
    for (const skill of ["desk", "copy"])
      expect((await run({ skill, caller: group })).result.status).toBe("refused");
    expect((await run({ skill: "desk", caller: ALICE })).result.capabilities).toMatchObject([{ failed: 1 }]);
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
    expect(existsSync(join(root, "anna", "mail", "new", "1.lunch"))).toBe(true);
  });
});
