/** Questions to people in SQLite: each is asked once and answered once, no matter who answers or how often. */
import type { AnswerOutcome, JournalStore, NewQuestion, QuestionAnswer } from "../journal-store.ts";
import { writeOptionalJson } from "../rows.ts";
import { appendLine } from "./audit.ts";
import type { Database } from "./open-database.ts";
import { type Row, readQuestion } from "./rows.ts";

type Answering = Pick<JournalStore, "answer" | "expireQuestions">;

export function answerQuestions(database: Database): Answering {
  return {
    async answer(id, answer, line) {
      return database.keep(() => {
        const outcome = takeAnswer(database, id, answer);
        if (outcome.kind === "taken") appendLine(database, line);
        return outcome;
      });
    },
    async expireQuestions(now) {
      return database.keep(() => {
        const sql = `UPDATE questions SET status = 'expired', answered_at = ?
          WHERE status = 'pending' AND expires_at IS NOT NULL AND expires_at <= ? RETURNING *`;
        const rows: readonly Row[] = database.statement(sql).all(now, now);
        return rows.map(readQuestion);
      });
    },
  };
}

function takeAnswer(database: Database, id: string, { status, answer, by }: QuestionAnswer): AnswerOutcome {
  const find = database.statement("SELECT * FROM questions WHERE id = ?");
  const asked: Row | undefined = find.get(id);
  if (asked === undefined) return { kind: "unknown" };
  if (asked.status !== "pending") return { kind: "late", question: readQuestion(asked) };
  const now = Date.now();
  const isOver = asked.expires_at !== null && Number(asked.expires_at) <= now;
  const update = database.statement(
    "UPDATE questions SET status = ?, answer = ?, answered_by = ?, answered_at = ? WHERE id = ? RETURNING *",
  );
  const row: Row | undefined = isOver
    ? update.get("expired", null, null, now, id)
    : update.get(status, writeOptionalJson(answer), by, now, id);
  return { kind: isOver ? "late" : "taken", question: readQuestion(row ?? asked) };
}

/** Adds the new ones; a question already asked under its key stays as it is. Inside a transaction. */
export function askQuestions(
  database: Database,
  run: Row,
  questions: readonly NewQuestion[],
  now: number,
): void {
  const known = database.statement("SELECT 1 FROM questions WHERE run_id = ? AND key = ?");
  const insert = database.statement(
    `INSERT INTO questions (id, run_id, root_id, tenant, key, kind, body, asked_at, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const [runId, rootId, tenant] = [String(run.id), String(run.root_id), String(run.tenant)];
  for (const { id, key, kind, body, expiresAt } of questions) {
    if (known.get(runId, key)) continue;
    insert.run(id, runId, rootId, tenant, key, kind, JSON.stringify(body), now, expiresAt ?? null);
  }
}

/** Cancels the questions of a run that has ended: nobody waits for them anymore. Inside a transaction. */
export function cancelQuestions(database: Database, runId: string, now: number): void {
  database
    .statement(
      "UPDATE questions SET status = 'cancelled', answered_at = ? WHERE run_id = ? AND status = 'pending'",
    )
    .run(now, runId);
}
