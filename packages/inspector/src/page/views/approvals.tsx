/** What waits for a person: tool calls and changes to approve, and questions of skills. The oldest first. */

import type { ApiApproval, ApiList, ApiQuestion } from "@metier/service/api";
import { useEffect, useState } from "preact/hooks";
import { ApprovalCard } from "../approvals/approval-card.tsx";
import { NotificationSwitch } from "../approvals/notifications.tsx";
import { QuestionCard } from "../approvals/question-card.tsx";
import { ChoiceField } from "../design/field.tsx";
import { Answered, Empty } from "../design/notice.tsx";
import { Section, ViewPage } from "../design/page.tsx";
import { address, changeQuery } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";
import { countOf } from "../state/format.ts";
import { useKeys } from "../state/keys.ts";

const STATUSES = ["pending", "approved", "denied", "expired", "cancelled"] as const;

export function ApprovalsView() {
  const { query } = address.value;
  const status = STATUSES.find((one) => one === query.get("status")) ?? "pending";
  const run = query.get("run");
  const search = new URLSearchParams({ status, limit: "100", ...(run && { run }) });
  const path = `/v1/approvals?${search}`;
  const questionsPath = status === "pending" ? `/v1/questions?${search}` : undefined;
  const approvals = useAnswer<ApiList<ApiApproval>>(path);
  const questions = useAnswer<ApiList<ApiQuestion>>(questionsPath);
  const open = questions.value?.data ?? [];
  return (
    <ViewPage
      title="Approvals"
      lead={run ? <ListedRunFilter run={run} /> : "Runs wait until somebody answers, for days if need be."}
      actions={<NotificationSwitch />}
    >
      <div class="filters">
        <ChoiceField
          label="Show"
          value={status}
          options={STATUSES}
          onChange={(value) => changeQuery({ status: value === "pending" ? undefined : value })}
        />
      </div>
      {open.length > 0 && (
        <Section title={countOf(open.length, "question")}>
          {open.map((question) => (
            <QuestionCard key={question.id} question={question} />
          ))}
        </Section>
      )}
      <Answered known={approvals} path={path}>
        {({ data, next }) => <ApprovalList approvals={data} hasMore={next !== undefined} status={status} />}
      </Answered>
    </ViewPage>
  );
}

function ListedRunFilter({ run }: { readonly run: string }) {
  return (
    <>
      Of run <a href={`#/run/${encodeURIComponent(run)}`}>{run}</a>.{" "}
      <a href="#/approvals">Show those of all runs</a>
    </>
  );
}

interface ApprovalListProps {
  readonly approvals: readonly ApiApproval[];
  readonly hasMore: boolean;
  readonly status: string;
}

function ApprovalList({ approvals, hasMore, status }: ApprovalListProps) {
  const [at, setAt] = useState(0);
  const current = Math.min(at, approvals.length - 1);
  const move = (step: number): void => {
    const next = Math.max(0, Math.min(approvals.length - 1, current + step));
    setAt(next);
    document.getElementById(`approval-${next}`)?.focus();
  };
  useKeys(
    [
      { keys: "j", about: "Next approval", group: "Approvals", act: () => move(1) },
      { keys: "k", about: "Previous approval", group: "Approvals", act: () => move(-1) },
    ],
    [current, approvals.length],
  );
  useEffect(() => setAt(0), [status]);
  if (approvals.length === 0) {
    return (
      <Empty title={status === "pending" ? "Nothing waits for you." : `No approval is ${status}.`}>
        {status === "pending" && (
          <p>
            A run asks here before a tool acts. Start one in the <a href="#/playground">playground</a>.
          </p>
        )}
      </Empty>
    );
  }
  return (
    <Section title={countOf(approvals.length, "approval")}>
      {approvals.map((approval, index) => (
        <ApprovalCard
          key={approval.id}
          approval={approval}
          index={index}
          isCurrent={index === current}
          onFocus={() => setAt(index)}
        />
      ))}
      {hasMore && <p class="soft">More wait behind these: answer some, and they come.</p>}
    </Section>
  );
}
