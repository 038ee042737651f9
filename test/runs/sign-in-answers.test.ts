/** The answer of a sign-in in the user's own message: the host completes it before the run, and never from other texts. */
import { expect, test } from "vitest";
import { ALICE, type MemoRuns, openMemo } from "../support/memo-runs.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { eventsOf, says, useSkill } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import { skill } from "../support/world.ts";

const CODE = "4/0AbCdEfGhIjKlMnOp";
const PASTED = `here you go: http://localhost:8085/?state=state-of-memo&code=${CODE} thanks`;

async function begin({ metier }: MemoRuns, userId = "alice", account?: string): Promise<void> {
  const request = { capability: "memo.account", ...(account !== undefined && { account }) };
  const flow = await metier.capabilities.auth.begin(request, { caller: { ...ALICE, userId } });
  expect(flow).toMatchObject({ ok: true });
}

async function runAccount(
  { run }: MemoRuns,
  request: Partial<Parameters<MemoRuns["run"]>[0]>,
): Promise<{ readonly system: string; readonly told: string; readonly codes: readonly string[] }> {
  const { result, events } = await run({ skill: "account", caller: ALICE, ...request });
  expect(result.status).toBe("completed");
  const system = eventsOf(events, "model-called")[0]?.system ?? "";
  return {
    system,
    told: JSON.stringify([events, result]),
    codes: result.diagnostics.map(({ code }) => code),
  };
}

describeSandbox("the answer of a sign-in", () => {
  verifies("case 86", "in the user's own message is completed before the run begins", async () => {
    const opened = await openMemo([says("Done.")]);
    await begin(opened);
    const message = "The user says that they have signed in.";
    const { system, codes } = await runAccount(opened, { source: "model", message, userMessage: PASTED });
    expect(opened.memo.codes).toEqual([CODE]);
    expect(system).toContain("`memo.account` is linked to the account `me@example.com`");
    expect(codes).not.toContain("capability.unlinked");
  });

  test("that the user gave directly is completed too, and told by nothing afterwards", async () => {
    const opened = await openMemo([says("Done.")]);
    await begin(opened);
    const { told } = await runAccount(opened, { source: "user", message: PASTED });
    expect(opened.memo.codes).toEqual([CODE]);
    expect(told).toContain("[redacted:SIGN_IN_CODE]");
    expect(told).not.toContain(CODE);
  });

  test("in what a model or a program says is none", async () => {
    const opened = await openMemo([says("Done."), says("Done.")]);
    await begin(opened);
    for (const source of ["model", "code"] as const) {
      const { system } = await runAccount(opened, { source, message: PASTED, context: PASTED });
      expect(system).not.toContain("answer of a sign-in");
    }
    expect(opened.memo.codes).toEqual([]);
  });

  test("that may be meant for several sign-ins is left to the model, with a hint", async () => {
    const opened = await openMemo([says("Done.")]);
    await begin(opened, "alice", "work");
    await begin(opened, "alice", "home");
    const { system } = await runAccount(opened, { userMessage: CODE });
    expect(system).toContain("List the sign-ins that are pending");
    expect(opened.memo.codes).toEqual([]);
  });

  test("completes no sign-in of another user, and none for what the skill does not declare", async () => {
    const opened = await openMemo([says("Done."), says("Done.")]);
    await begin(opened, "bob");
    const { system } = await runAccount(opened, { userMessage: PASTED });
    expect(system).toContain("none is pending");
    await begin(opened);
    await runAccount(opened, { skill: "memo", userMessage: PASTED });
    expect(opened.memo.codes).toEqual([]);
  });

  test("is used once, also where a skill starts another; a plan uses none", async () => {
    const opened = await openMemo([useSkill("inner"), says("Inner."), says("Done.")]);
    opened.world.write({
      "home/.metier/skills/inner/SKILL.md": skill("inner", "capabilities: [memo.account]\ncontext: fork"),
    });
    await opened.metier.reload();
    await begin(opened);
    const request = { skill: "account", caller: ALICE, userMessage: PASTED };
    expect(await opened.metier.plan(request)).toMatchObject({ ok: true });
    expect(opened.memo.codes).toEqual([]);
    const { events } = await opened.run(request);
    const prompts = eventsOf(events, "model-called").flatMap(({ system }) => system ?? []);
    expect(prompts[1]).toContain("none is pending: it was completed before");
    expect(opened.memo.codes).toEqual([CODE]);
  });

  test("that the host cannot complete is told as a fault, without the code", async () => {
    const opened = await openMemo([says("Done.")]);
    await begin(opened);
    const denied = "http://localhost:8085/?state=state-of-memo&error=access_denied";
    const { system } = await runAccount(opened, { userMessage: denied });
    expect(system).toContain("could not complete it: The sign-in was denied");
  });

  test("is told by a host with a loop of its own, beside what its model says", async () => {
    const opened = await openMemo([says("Linked."), says("Linked.")]);
    await begin(opened);
    const tool = opened.metier.useSkillTool({ caller: ALICE });
    const input = { skill: "account", message: PASTED };
    expect(await tool?.execute(input)).toMatchObject({ isError: false });
    expect(opened.memo.codes).toEqual([]);
    await tool?.execute({ ...input, message: "Go on." }, { userMessage: PASTED });
    expect(opened.memo.codes).toEqual([CODE]);
  });

  test("typed into a chat reaches the skill that the main agent chooses; texts of skills do not count", async () => {
    const opened = await openMemo([
      useSkill("account", "Look whether it is linked."),
      says("It is not.", { system: { matches: "^(?![\\s\\S]*answer of a sign-in)" } }),
      says("Read."),
      useSkill("account", "The user has signed in."),
      says("Linked.", { system: { contains: ["is linked to the account"] } }),
      says("Done."),
    ]);
    opened.world.write({ "home/.metier/skills/howto/SKILL.md": skill("howto", "", PASTED) });
    await opened.metier.reload();
    await begin(opened);
    const chat = await opened.metier.chat({ caller: ALICE, approve: "all" });
    await chat.send("/howto");
    expect(opened.memo.codes).toEqual([]);
    await chat.send(PASTED);
    expect(opened.memo.codes).toEqual([CODE]);
  });
});
