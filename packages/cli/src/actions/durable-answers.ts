/** Asks a durable run's questions in the terminal. Each answer is recorded when given, and counts once. */
import { CancelledError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { fitShape, jsonShape, listShape, mapShape, recordShape, textShape } from "@metier/base/shape";
import { safeLine } from "@metier/base/text";
import type { JournalStore, Question, QuestionAnswer } from "@metier/durable";
import type { ApprovalQuestion, AskUser, RunRequest } from "@metier/run";
import { type CliContext, err } from "../context.ts";
import { readCaller } from "../open-metier.ts";
import type { ShownChange } from "../output/capabilities-text.ts";
import { confirmInTerminal } from "./run-request.ts";

type UserQuestion = Parameters<AskUser>[0];

const approvalShape = recordShape<ApprovalQuestion>(
  {
    skill: textShape,
    tool: textShape,
    input: jsonShape as never,
    rule: textShape,
    diff: textShape,
    rules: listShape(textShape),
  },
  ["diff", "rules"],
);
interface Confirmation extends Pick<ShownChange, "capability" | "account" | "accountName" | "input"> {
  readonly operation: string;
  readonly description: string;
  readonly user: string;
  readonly skill?: string;
}

const confirmationShape = recordShape<Confirmation>(
  {
    capability: textShape,
    operation: textShape,
    description: textShape,
    account: textShape,
    accountName: textShape,
    user: textShape,
    skill: textShape,
    input: mapShape(jsonShape),
  },
  ["account", "accountName", "skill"],
);
const questionShape = recordShape<UserQuestion>({ question: textShape, options: listShape(textShape) });

interface Answering {
  readonly journal: JournalStore;
  /** Whom to ask. If all are absent, nobody is asked. */
  readonly ask: Pick<RunRequest, "approve" | "askUser" | "confirm">;
  /** `--approve`: yes to tools, and to nothing else. */
  readonly approve: boolean;
}

/** Answers all it can; returns whether nothing is left. */
export type AnswerAll = (questions: readonly Question[]) => Promise<boolean>;

/** "Allowed for the session" lasts as long as this object. */
export function answerInTerminal(context: CliContext, { journal, ask, approve }: Answering): AnswerAll {
  const by = readCaller({}).userId ?? "terminal";
  const session = createSession();
  const answerOne = async (question: Question): Promise<Omit<QuestionAnswer, "by"> | undefined> => {
    if (question.kind === "question") return ask.askUser && askPerson(ask.askUser, question);
    if (question.kind === "confirmation") return ask.confirm && confirmChange(context.io, question);
    const approval = fitShape(approvalShape, question.body);
    if (approval === undefined) return UNSHOWN;
    if (approve || session.covers(approval)) return { status: "approved" };
    if (typeof ask.approve !== "function") return undefined;
    const said = await ask.approve(approval);
    if (said === "session") session.allow(approval);
    return { status: said === "no" ? "denied" : "approved" };
  };
  return async (questions) => {
    let isWhole = true;
    for (const question of questions) {
      const answer = await untilCancelled(answerOne(question));
      if (answer === undefined) {
        isWhole = false;
        continue;
      }
      const outcome = await journal.answer(question.id, { ...answer, by });
      if (outcome.kind === "late") tellLate(context, outcome.question);
    }
    return isWhole;
  };
}

/** Ctrl-C leaves the question open; it is asked again when the run continues. */
async function untilCancelled<Value>(asked: Promise<Value>): Promise<Value | undefined> {
  try {
    return await asked;
  } catch (fault) {
    if (fault instanceof CancelledError) return undefined;
    throw fault;
  }
}

async function askPerson(askUser: AskUser, { body }: Question): Promise<Omit<QuestionAnswer, "by">> {
  const question = fitShape(questionShape, body);
  const answer = question && (await askUser(question, new AbortController().signal));
  return { status: "answered", answer };
}

const UNSHOWN = { status: "denied", answer: { note: "it could not be shown" } } as const;

/** Asked like a change in a run that isn't durable; `--approve` doesn't answer it. */
async function confirmChange(io: CliContext["io"], { body }: Question): Promise<Omit<QuestionAnswer, "by">> {
  const change = fitShape(confirmationShape, body);
  if (change === undefined) return UNSHOWN;
  const { operation: name, description, user: userId, skill, ...shown } = change;
  const caller = presentFields({ userId, skill });
  const said = await confirmInTerminal(io)({ ...shown, caller, operation: { name, description } });
  return { status: said === "yes" ? "approved" : "denied" };
}

interface Session {
  covers(question: ApprovalQuestion): boolean;
  allow(question: ApprovalQuestion): void;
}

/** Patterns if there are any; otherwise exactly the same call. */
function createSession(): Session {
  const allowed = new Set<string>();
  const namesOf = ({ tool, input, rules = [] }: ApprovalQuestion): readonly string[] =>
    rules.length > 0 ? rules : [JSON.stringify([tool, input])];
  return {
    covers: (question) => namesOf(question).every((name) => allowed.has(name)),
    allow(question) {
      for (const name of namesOf(question)) allowed.add(name);
    },
  };
}

function tellLate(context: CliContext, { status, answeredBy = "somebody" }: Question): void {
  err(
    context,
    `Your answer came too late: the question was already ${safeLine(status)} by ${safeLine(answeredBy)}.`,
  );
}
