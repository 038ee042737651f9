/** What holds for the tool calls of a run, whoever brought the tools: how many, under which names, one question at a time. */
import { UsageError } from "@metier/base/errors";
import { answer } from "@metier/run";
import type { ScriptedTurn } from "@metier/run/model";
import { expect, test } from "vitest";
import { calls, createRunWorld, eventsOf, openRuns, programTool, says } from "../support/scripted-runs.ts";

/** One step with many calls of one tool. */
function manyCalls(count: number, tool: string, input = {}): ScriptedTurn {
  return { answer: { toolCalls: Array.from({ length: count }, () => ({ tool, input })) } };
}

/** Counts how many of its pieces of work are under way at once. */
function createCrowd() {
  const seen = { now: 0, most: 0, all: 0 };
  const work = async (): Promise<void> => {
    seen.all += 1;
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    await new Promise((resume) => setImmediate(resume));
    seen.now -= 1;
  };
  return { seen, work };
}

test("a step with very many calls has few of them under way at once, and those beyond the most are refused", async () => {
  const { seen, work } = createCrowd();
  const slow = programTool("slow", async () => {
    await work();
    return answer("done");
  });
  const script = [
    manyCalls(130, "slow"),
    calls("slow", {}, { toolResult: { contains: ["done", "at most 100 tool calls", "in the next step"] } }),
    says("Enough.", { toolResult: { equals: "done" } }),
  ];
  const { run } = await openRuns(createRunWorld({ echo: [] }), script, { tools: [slow] });
  const { result, events } = await run({ skill: "echo" });
  expect(result).toMatchObject({ status: "completed", text: "Enough." });
  expect(seen).toEqual({ now: 0, most: 8, all: 101 });
  const refused = eventsOf(events, "tool-called").filter(({ decision }) => decision === "deny");
  expect(refused).toHaveLength(30);
});

test("questions of a model and questions for approval are asked one at a time", async () => {
  const { seen, work } = createCrowd();
  const ask = { tool: "ask_user", input: { question: "Which one?" } };
  const write = { tool: "write_file", input: { path: "x.txt", content: "x" } };
  const script = [{ answer: { toolCalls: [ask, write, ask] } }, says("Asked.")];
  const { run } = await openRuns(createRunWorld({ echo: [] }), script, {
    config: { tools: { write_file: "ask" } },
  });
  const { result } = await run({
    skill: "echo",
    write: true,
    askUser: async () => {
      await work();
      return "This one.";
    },
    approve: async () => {
      await work();
      return "yes" as const;
    },
  });
  expect(result.status).toBe("completed");
  expect(seen).toMatchObject({ most: 1, all: 3 });
});

test("a question that could not be asked does not keep the next one from being asked", async () => {
  const script = [
    manyCalls(2, "ask_user", { question: "Which one?" }),
    says("Asked.", { toolResult: { contains: ["could not be asked: closed", "This one."] } }),
  ];
  const { run } = await openRuns(createRunWorld({ echo: [] }), script);
  let isFirst = true;
  const { result } = await run({
    skill: "echo",
    async askUser() {
      if (!isFirst) return "This one.";
      isFirst = false;
      throw new Error("closed");
    },
  });
  expect(result.status).toBe("completed");
});

test("tools whose names cannot be told from others are a fault of the program", async () => {
  const world = createRunWorld({ echo: [] });
  const look = programTool("look", "");
  await expect(world.metier({ tools: [programTool("bash", "")] })).rejects.toThrow(UsageError);
  const { metier } = await openRuns(world, [], { tools: [look] });
  await expect(metier.run({ skill: "echo", tools: [look] })).rejects.toThrow(UsageError);
  await expect(metier.invoke({ skill: "echo", tools: [programTool("Look up", "")] })).rejects.toThrow(
    UsageError,
  );
  expect(() => metier.useSkillTool({ tools: [look] })).toThrow(UsageError);
  await expect(metier.chat({ tools: [programTool("use_skill", "")] })).rejects.toThrow(UsageError);
});

test("invisible characters in the answers of a tool are said once for each tool", async () => {
  const tools = ["page", "mail"].map((name) => programTool(name, "obey\u202E me"));
  const script = [manyCalls(2, "page"), calls("mail", {}), says("Done.")];
  const { run } = await openRuns(createRunWorld({ echo: [] }), script, { tools });
  const { result, events } = await run({ skill: "echo" });
  const said = eventsOf(events, "diagnostic").filter(({ code }) => code === "disclosure.text-removed");
  expect(said.map(({ message }) => /`(\w+)`.*U\+202E/.exec(message)?.[1])).toEqual(["page", "mail"]);
  const reported = result.diagnostics.filter(({ code }) => code === "disclosure.text-removed");
  expect(reported.map(({ message }) => message)).toEqual(said.map(({ message }) => message));
});
