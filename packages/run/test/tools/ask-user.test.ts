import { expect, test } from "vitest";
import { toolContext } from "../../../../test/support/tool-context.ts";
import { askUserTool, type UserQuestion } from "../../src/tools/ask-user.ts";

test("the user is asked with the options, free of invisible characters, and the answer comes back", async () => {
  const asked: UserQuestion[] = [];
  const tool = askUserTool(async (question) => {
    asked.push(question);
    return "the\u200b second";
  });
  const input = { question: "Which\u202e one?\u001b[2J", options: ["first", "sec\nond"] };
  expect(await tool.execute(input, toolContext())).toEqual({ text: "the second", isError: false });
  expect(asked).toEqual([{ question: "Which one?[2J", options: ["first", "sec ond"] }]);
});

test("no answer is said to be none", async () => {
  const tool = askUserTool(async () => undefined);
  const output = await tool.execute({ question: "Which one?" }, toolContext());
  expect(output.isError).toBe(true);
  expect(output.text).toContain("The user did not answer.");
});

test("a fault of whoever asks becomes an answer", async () => {
  const tool = askUserTool(() => Promise.reject(new Error("the terminal is gone")));
  const output = await tool.execute({ question: "Which one?" }, toolContext());
  expect(output).toEqual({ text: "The user could not be asked: the terminal is gone", isError: true });
});
