import { describe, expect, test } from "vitest";
import { type ApprovalAnswer, type ApprovalQuestion, createApprovals } from "../../../src/run/approvals.ts";

const QUESTION = { tool: "bash", input: { command: "make" }, rule: "`bash` asks by default" };

/** A person who answers with these, and what they were asked. */
function person(...answers: readonly ApprovalAnswer[]) {
  const asked: ApprovalQuestion[] = [];
  const left = [...answers];
  const approve = (question: ApprovalQuestion): ApprovalAnswer => {
    asked.push(question);
    return left.shift() ?? "no";
  };
  return { asked, approvals: createApprovals({ skill: "build", approve }) };
}

describe("approvals", () => {
  test("nobody to ask means no, and says so", async () => {
    expect(await createApprovals({ skill: "build" }).ask(QUESTION)).toEqual({
      approved: false,
      rule: "`bash` asks by default, and there is nobody to ask",
    });
  });

  test("`all` means yes to whatever would be asked", async () => {
    const approvals = createApprovals({ skill: "build", approve: "all" });
    expect(await approvals.ask(QUESTION)).toMatchObject({ approved: true });
  });

  test("a person is told the skill, the tool, its input and the reason", async () => {
    const { approvals, asked } = person("yes");
    expect(await approvals.ask(QUESTION)).toEqual({ approved: true, rule: "approved by the user" });
    expect(asked).toEqual([{ ...QUESTION, skill: "build" }]);
  });

  test("a no is a no for this call alone, and a yes a yes", async () => {
    const { approvals, asked } = person("no", "yes", "no");
    const answers = [
      await approvals.ask(QUESTION),
      await approvals.ask(QUESTION),
      await approvals.ask(QUESTION),
    ];
    expect(answers.map(({ approved }) => approved)).toEqual([false, true, false]);
    expect(answers[0]?.rule).toBe("the user declined");
    expect(asked).toHaveLength(3);
  });

  test("`always` is remembered for the same call, and for no other", async () => {
    const { approvals, asked } = person("always", "no");
    await approvals.ask(QUESTION);
    expect(await approvals.ask(QUESTION)).toEqual({ approved: true, rule: "approved earlier in this run" });
    expect(await approvals.ask({ ...QUESTION, input: { command: "make install" } })).toMatchObject({
      approved: false,
    });
    expect(asked).toHaveLength(2);
  });

  test("`always` is not remembered for another run", async () => {
    const { approvals } = person("always");
    await approvals.ask(QUESTION);
    expect(await person("no").approvals.ask(QUESTION)).toMatchObject({ approved: false });
  });

  test("two questions at once are asked one after the other", async () => {
    let open = 0;
    let most = 0;
    const approve = async (): Promise<ApprovalAnswer> => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((resume) => setImmediate(resume));
      open -= 1;
      return "yes";
    };
    const approvals = createApprovals({ skill: "build", approve });
    await Promise.all([1, 2, 3].map((number) => approvals.ask({ ...QUESTION, input: { number } })));
    expect(most).toBe(1);
  });

  test("a person who cannot be reached has not agreed, and the next question is asked", async () => {
    let isFirst = true;
    const approve = (): ApprovalAnswer => {
      if (!isFirst) return "yes";
      isFirst = false;
      throw new Error("The terminal is gone.");
    };
    const approvals = createApprovals({ skill: "build", approve });
    const [first, second] = await Promise.all([approvals.ask(QUESTION), approvals.ask(QUESTION)]);
    expect(first).toEqual({
      approved: false,
      rule: "the user could not be asked: The terminal is gone.",
    });
    expect(second).toMatchObject({ approved: true });
  });

  test("an answer that is none of the three words has not agreed", async () => {
    const approve = () => true as unknown as ApprovalAnswer;
    const approvals = createApprovals({ skill: "build", approve });
    expect(await approvals.ask(QUESTION)).toMatchObject({ approved: false });
  });
});
