/** Answers to questions in Postgres. */
import type { JournalStore } from "../journal-store.ts";
import { writeOptionalJson } from "../rows.ts";
import { writeLine } from "./audit.ts";
import type { Database } from "./database.ts";
import { readQuestion } from "./rows.ts";
import { currentScope } from "./scope.ts";
import { writeText } from "./text.ts";

type Answering = Pick<JournalStore, "answer" | "expireQuestions">;

export function answerQuestions({ insist }: Database): Answering {
  return {
    async answer(id, { status, answer, by }, line) {
      const scope = currentScope();
      const rest = [
        writeText(id),
        status,
        writeOptionalJson(answer),
        writeText(by),
        writeLine(line),
      ] as const;
      const sql = "SELECT outcome, (question).* FROM metier.answer_question($1, $2, $3, $4, $5, $6, $7)";
      const [row] = await insist(sql, (isAgain) => [scope, isAgain, ...rest]);
      if (row === undefined) return { kind: "unknown" };
      return { kind: row.outcome === "taken" ? "taken" : "late", question: readQuestion(row) };
    },
    async expireQuestions(now) {
      const scope = currentScope();
      const sql = "SELECT * FROM metier.expire_questions($1, $2, $3)";
      return (await insist(sql, (isAgain) => [scope, isAgain, now])).map(readQuestion);
    },
  };
}
