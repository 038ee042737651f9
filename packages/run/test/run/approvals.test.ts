import { describe, expect, test } from "vitest";
import {
  type ApprovalAnswer,
  type ApprovalQuestion,
  createApprovals,
  createQuestionQueue,
  queueQuestions,
} from "../../src/run/run-policy.ts";
import type { AskUser } from "../../src/tools/ask-user.ts";

const QUESTION = { tool: "bash", input: { command: "make" }, rule: "`bash` asks by default" };
const GOING_ON = new AbortController().signal;

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
    expect(await createApprovals({ skill: "build" }).ask(QUESTION, GOING_ON)).toEqual({
      approved: false,
      rule: "`bash` asks by default, and there is nobody to ask",
    });
  });

  test("`all` means yes to whatever would be asked", async () => {
    const approvals = createApprovals({ skill: "build", approve: "all" });
    expect(await approvals.ask(QUESTION, GOING_ON)).toEqual({ approved: true, rule: "approved in advance" });
  });

  test("a person is told the skill, the tool, its input and the reason", async () => {
    const { approvals, asked } = person("yes");
    expect(await approvals.ask(QUESTION, GOING_ON)).toEqual({ approved: true, rule: "approved by the user" });
    expect(asked).toEqual([{ ...QUESTION, skill: "build" }]);
  });

  test("a no is a no for this call alone, and a yes a yes", async () => {
    const { approvals, asked } = person("no", "yes", "no");
    const answers = [
      await approvals.ask(QUESTION, GOING_ON),
      await approvals.ask(QUESTION, GOING_ON),
      await approvals.ask(QUESTION, GOING_ON),
    ];
    expect(answers.map(({ approved }) => approved)).toEqual([false, true, false]);
    expect(answers[0]?.rule).toBe("the user declined");
    expect(asked).toHaveLength(3);
  });

  test("`always` is remembered for the same call, and for no other", async () => {
    const { approvals, asked } = person("always", "no");
    await approvals.ask(QUESTION, GOING_ON);
    expect(await approvals.ask(QUESTION, GOING_ON)).toEqual({
      approved: true,
      rule: "approved earlier in this run",
    });
    expect(await approvals.ask({ ...QUESTION, input: { command: "make install" } }, GOING_ON)).toMatchObject({
      approved: false,
    });
    expect(asked).toHaveLength(2);
  });

  test("`always` is not remembered for another run", async () => {
    const { approvals } = person("always");
    await approvals.ask(QUESTION, GOING_ON);
    expect(await person("no").approvals.ask(QUESTION, GOING_ON)).toMatchObject({ approved: false });
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
    await Promise.all([1, 2, 3].map((number) => approvals.ask({ ...QUESTION, input: { number } }, GOING_ON)));
    expect(most).toBe(1);
  });

  test("runs that share a queue do not ask at once", async () => {
    let open = 0;
    let most = 0;
    const approve = async (): Promise<ApprovalAnswer> => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((resume) => setImmediate(resume));
      open -= 1;
      return "yes";
    };
    const queue = createQuestionQueue();
    const runs = ["a", "b"].map((skill) => createApprovals({ skill, approve, queue }));
    await Promise.all(runs.map((approvals) => approvals.ask(QUESTION, GOING_ON)));
    expect(most).toBe(1);
  });

  test("a stopped run asks nothing more, and whoever waits behind it is asked", async () => {
    const asked: string[] = [];
    const stop = new AbortController();
    const approve = ({ skill }: ApprovalQuestion): Promise<ApprovalAnswer> => {
      asked.push(skill);
      return skill === "other" ? Promise.resolve("yes") : new Promise(() => undefined);
    };
    const queue = createQuestionQueue();
    const stopped = createApprovals({ skill: "build", approve, queue });
    const other = createApprovals({ skill: "other", approve, queue });
    const answers = Promise.all([
      stopped.ask(QUESTION, stop.signal),
      stopped.ask(QUESTION, stop.signal),
      other.ask(QUESTION, GOING_ON),
    ]);
    await new Promise((resume) => setImmediate(resume));
    stop.abort();
    expect((await answers).map(({ approved }) => approved)).toEqual([false, false, true]);
    expect(asked).toEqual(["build", "other"]);
  });

  test("a question of a model whose run was stopped while it waited is not asked", async () => {
    const asked: string[] = [];
    const first = Promise.withResolvers<string>();
    const askUser: AskUser = ({ question }) => {
      asked.push(question);
      return question === "first" ? first.promise : Promise.resolve("answer");
    };
    const queued = queueQuestions({ askUser }, createQuestionQueue());
    const stop = new AbortController();
    const answers = Promise.all([
      queued.askUser({ question: "first", options: [] }, GOING_ON),
      queued.askUser({ question: "stopped", options: [] }, stop.signal),
      queued.askUser({ question: "last", options: [] }, GOING_ON),
    ]);
    stop.abort();
    first.resolve("answer");
    expect(await answers).toEqual(["answer", undefined, "answer"]);
    expect(asked).toEqual(["first", "last"]);
  });

  test("a person who cannot be reached has not agreed, and the next question is asked", async () => {
    let isFirst = true;
    const approve = (): ApprovalAnswer => {
      if (!isFirst) return "yes";
      isFirst = false;
      throw new Error("The terminal is gone.");
    };
    const approvals = createApprovals({ skill: "build", approve });
    const [first, second] = await Promise.all([
      approvals.ask(QUESTION, GOING_ON),
      approvals.ask(QUESTION, GOING_ON),
    ]);
    expect(first).toEqual({
      approved: false,
      rule: "the user could not be asked: The terminal is gone.",
    });
    expect(second).toMatchObject({ approved: true });
  });

  test("an answer that is none of the three words has not agreed", async () => {
    const approve = () => true as unknown as ApprovalAnswer;
    const approvals = createApprovals({ skill: "build", approve });
    expect(await approvals.ask(QUESTION, GOING_ON)).toMatchObject({ approved: false });
  });
});
