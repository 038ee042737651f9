/** What waits for a person: tool calls and changes to approve, and questions from skills. Oldest first. */

import type { ApiApproval, ApiList, ApiQuestion } from "@metier/service/api";
import { useState } from "preact/hooks";
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
      lead={run ? <ListedRunFilter run={run} /> : "Runs wait until someone answers, for days if necessary."}
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
      For run <a href={`#/run/${encodeURIComponent(run)}`}>{run}</a>. <a href="#/approvals">Show all runs</a>
    </>
  );
}

interface ApprovalListProps {
  readonly approvals: readonly ApiApproval[];
  readonly hasMore: boolean;
  readonly status: string;
}

function ApprovalList({ approvals, hasMore, status }: ApprovalListProps) {
  // By its id: the next one in the list is another question, which nobody has read yet.
  const [current, setCurrent] = useState<string | undefined>(undefined);
  const index = approvals.findIndex(({ id }) => id === current);
  const move = (step: number): void => {
    const to = index === -1 ? 0 : Math.max(0, Math.min(approvals.length - 1, index + step));
    const id = approvals[to]?.id;
    setCurrent(id);
    document.getElementById(`approval-${id}`)?.focus();
  };
  useKeys(
    [
      { keys: "j", about: "Next approval", group: "Approvals", act: () => move(1) },
      { keys: "k", about: "Previous approval", group: "Approvals", act: () => move(-1) },
    ],
    [index, approvals],
  );
  if (approvals.length === 0) {
    return (
      <Empty title={status === "pending" ? "Nothing is waiting for you." : `No approval is ${status}.`}>
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
      {approvals.map((approval) => (
        <ApprovalCard
          key={approval.id}
          approval={approval}
          isCurrent={approval.id === current}
          onFocus={() => setCurrent(approval.id)}
        />
      ))}
      {hasMore && <p class="soft">More are waiting: answer some of these to see them.</p>}
    </Section>
  );
}
