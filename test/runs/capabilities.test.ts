/** Skills whose commands ask the host for what they declare: through a socket of their run, with a token of their own. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { ALICE, openMemo, READ } from "../support/memo-runs.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { bash, eventsOf, readLog, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import { skill } from "../support/world.ts";

describeSandbox("a run of a skill with capabilities", () => {
  verifies([172, 175], "reads through the host, for its caller, and has no network for it", async () => {
    const { run, memo, world } = await openMemo([
      bash(`${READ}; ip addr 2>/dev/null | grep -c 'state UP'; env | grep -c -i proxy`),
      says("Done.", { toolResult: { contains: ["buy milk", '"repeated": false', "0\n0"] } }),
    ]);
    const { result, events } = await run({ skill: "memo", caller: ALICE, approve: "all" });
    expect(result.status).toBe("completed");
    expect(memo.calls).toMatchObject([
      {
        operation: "memo.notes read",
        caller: { ...ALICE, runId: result.runId, skill: "memo", declared: ["memo.notes"] },
      },
    ]);
    const [called] = eventsOf(events, "capability-called");
    expect(called).toMatchObject({
      step: 1,
      capability: "memo.notes",
      operation: "read",
      mutating: false,
      outcome: "ok",
      requestId: expect.stringMatching(/^cap_[0-9a-f]{16}$/),
    });
    const used = [{ capability: "memo.notes", operation: "read", calls: 1, failed: 0 }];
    expect(result.capabilities).toEqual(used);
    expect(readLog(world, result.runId).at(-1)).toMatchObject({ capabilities: used });
    expect(readdirSync(join(world.home, ".metier/state/capabilities/sockets"))).toEqual([]);
  });

  verifies(173, "may use nothing that its skill does not declare", async () => {
    const { run, memo } = await openMemo([
      bash("metier-sb capability list"),
      bash("metier-sb capability invoke -c memo.other -o read", {
        toolResult: { contains: ["memo.notes"] },
      }),
      says("Done.", { toolResult: { contains: ["capability_access_denied", "does not declare"] } }),
    ]);
    const { result, events } = await run({ skill: "memo", caller: ALICE, approve: "all" });
    const [listed] = eventsOf(events, "tool-finished");
    expect(listed?.text).not.toContain("memo.other");
    expect(memo.calls).toEqual([]);
    expect(result.capabilities).toEqual([{ capability: "memo.other", calls: 1, failed: 1 }]);
  });

  verifies(176, "gets no door where it declares nothing, whoever else has one", async () => {
    const { run, memo, world } = await openMemo([
      bash("test -e /run/metier/capability.sock && echo socket; env | grep -c METIER_CONTEXT; true"),
      says("Done.", { toolResult: { contains: ["0"] } }),
    ]);
    const { events } = await run({ skill: "plain", caller: ALICE, approve: "all" });
    expect(eventsOf(events, "tool-finished")[0]?.text).not.toContain("socket");
    expect(memo.calls).toEqual([]);
    expect(existsSync(join(world.home, ".metier/state/capabilities/sockets"))).toBe(false);
  });

  test("has a token for each command, which ends with it and is told by nothing", async () => {
    const { run, memo, world } = await openMemo([
      bash('cd "$METIER_WORK_DIR"; printf %s "$METIER_CONTEXT_TOKEN" | tee token; echo; seq 30000'),
      bash(`METIER_CONTEXT_TOKEN=$(cat "$METIER_WORK_DIR/token") ${READ}`, {
        toolResult: { contains: ["[redacted:METIER_CONTEXT_TOKEN]"] },
      }),
      bash('base64 -w0 "$METIER_WORK_DIR/token"', {
        toolResult: { contains: ["Invalid context token (claims)"] },
      }),
      bash(READ),
      says("Done.", { toolResult: { contains: ["buy milk"] } }),
    ]);
    const { result, events } = await run({ skill: "memo", caller: ALICE, approve: "all" });
    const work = join(world.home, ".metier/state/runs", result.runId, "work");
    const token = readFileSync(join(work, "token"), "utf8");
    const signature = token.split(".")[2] ?? "";
    expect(signature).toHaveLength(43);
    const [paged = ""] = readdirSync(join(work, "output"));
    const texts = [events, readLog(world, result.runId), result].map((told) => JSON.stringify(told));
    for (const text of [...texts, readFileSync(join(work, "output", paged), "utf8")]) {
      expect(text).not.toContain(signature);
      expect(text).not.toContain(Buffer.from(token).toString("base64"));
    }
    expect(memo.calls).toHaveLength(1);
  });

  test("is not served by the door of another run, with whatever token", async () => {
    const { run, world, memo } = await openMemo([
      bash('printf %s "$METIER_CONTEXT_TOKEN" > "$METIER_WORK_DIR/token"; sleep 30'),
      bash(`METIER_CONTEXT_TOKEN=$(cat "$METIER_SKILL_DIR/stolen") ${READ}`),
      says("Done.", { toolResult: { contains: ["Invalid context token"] } }),
    ]);
    const stop = new AbortController();
    const runs = join(world.home, ".metier/state/runs");
    const first = run({ skill: "memo", caller: { userId: "bob" }, approve: "all", signal: stop.signal });
    const token = await vi.waitUntil(() => findToken(runs), { timeout: 90_000 });
    world.write({ "home/.metier/skills/memo/stolen": token });
    const { result } = await run({ skill: "memo", caller: ALICE, approve: "all" });
    expect(result.status).toBe("completed");
    stop.abort();
    expect((await first).result.status).toBe("cancelled");
    expect(memo.calls).toEqual([]);
  });

  verifies(174, "is not begun where the provider or the chat says no, and says why", async () => {
    const { run, metier, world } = await openMemo([]);
    world.write({
      "home/.metier/skills/diary/SKILL.md": skill("diary", "capabilities: [memo.diary]"),
      "foreign/stranger/SKILL.md": skill("stranger", "capabilities: [memo.notes]"),
      "home/.metier/skills/lost/SKILL.md": skill("lost", "capabilities: [memo.lost, memo.notes]"),
    });
    await metier.reload();
    const { result: lost } = await run({ skill: "lost", caller: ALICE });
    expect(lost.refusal).toMatchObject({ reason: "capabilities", data: { code: "capability_not_found" } });
    expect(lost.refusal?.message).toContain("`memo.lost`");
    const group = { ...ALICE, chatType: "group" };
    const { result: diary } = await run({ skill: "diary", caller: group });
    expect(diary.refusal).toMatchObject({ data: { code: "capability_access_denied" } });
    await metier.register(join(world.root, "foreign/stranger"));
    const { result: stranger } = await run({ skill: "stranger", caller: ALICE });
    expect(stranger.refusal?.message).toContain("which only a trusted skill may use");
    const { result: nobody } = await run({ skill: "memo" });
    expect(nobody.refusal?.message).toContain("the request names none");
    expect(await metier.plan({ skill: "diary", caller: ALICE })).toMatchObject({
      ok: true,
      outline: { capabilities: ["memo.diary"] },
    });
  });

  test("is begun without a linked account, and says that it will ask for one", async () => {
    const { run } = await openMemo([
      bash("metier-sb capability invoke -c memo.account -o read"),
      says("Sign in, please.", { toolResult: { contains: ["capability_auth_required"] } }),
    ]);
    const { result } = await run({ skill: "account", caller: ALICE, approve: "all" });
    expect(result.status).toBe("completed");
    const [told] = result.diagnostics.filter(({ code }) => code === "capability.unlinked");
    expect(told).toMatchObject({ severity: "info", hint: expect.stringContaining("memo.account") });
  });

  verifies(175, "answers by the names of the preset too", async () => {
    const { run, memo, world, metier } = await openMemo(
      [
        bash('test "$ASH_CONTEXT_TOKEN" = "$METIER_CONTEXT_TOKEN" && echo "$ASH_RPC_SOCKET"'),
        bash("ash-sb capability invoke -c memo.notes -o read", {
          toolResult: { contains: ["/run/metier/capability.sock"] },
        }),
        says("Done.", { toolResult: { contains: ["buy milk"] } }),
      ],
      { preset: "ash" },
    );
    world.write({ "home/.ash/skills/memo/SKILL.md": skill("memo", "capabilities: [memo.notes]") });
    await metier.reload();
    const { result } = await run({ skill: "memo", caller: ALICE, approve: "all" });
    expect(result.status).toBe("completed");
    expect(memo.calls).toHaveLength(1);
  });
});

function findToken(runs: string): string | undefined {
  const files = existsSync(runs) ? readdirSync(runs).map((id) => join(runs, id, "work", "token")) : [];
  const file = files.find((path) => existsSync(path));
  return file && (readFileSync(file, "utf8") || undefined);
}
