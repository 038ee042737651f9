/** One approval: who wants to do exactly what, and which rule asks. */

import { isJsonObject } from "@metier/base/json";
import type { ApiApproval } from "@metier/service/api";
import { StatusBadge } from "../design/badge.tsx";
import { Diff, readUnified } from "../design/diff.tsx";
import { Facts } from "../design/facts.tsx";
import { Notice } from "../design/notice.tsx";
import { Code, JsonText, showUnseen, Time } from "../design/text.tsx";
import { linkTo } from "../state/address.ts";
import { may } from "../state/answers.ts";
import { ApprovalAnswers } from "./approval-answers.tsx";

interface ApprovalCardProps {
  readonly approval: ApiApproval;
  readonly isCurrent: boolean;
  onFocus(): void;
}

export function ApprovalCard({ approval, isCurrent, onFocus }: ApprovalCardProps) {
  const { run, skill, tool, kind, status, rule, askedAt, expiresAt, answeredAt, answeredBy } = approval;
  const title = kind === "confirmation" ? `Change by ${tool ?? "a capability"}` : (tool ?? "Tool call");
  return (
    <article
      class={isCurrent ? "card stack current" : "card stack"}
      id={`approval-${approval.id}`}
      tabIndex={-1}
      aria-label={`${title}, ${status}`}
      onFocusIn={onFocus}
    >
      <div class="row">
        <h3>{showUnseen(title)}</h3>
        <StatusBadge status={status} />
        <span class="soft">
          in {skill && <a href={linkTo(["skill", skill])}>{showUnseen(skill)}</a>}{" "}
          <a href={linkTo(["run", run])}>run {run}</a>, <Time at={askedAt} />
        </span>
      </div>
      <ApprovalInput approval={approval} />
      {approval.isCut && (
        <Notice tone="warn" title="This input is too large to show in full.">
          <p>You can't approve it as it is. Deny it, or approve it with your own input.</p>
        </Notice>
      )}
      <Facts
        facts={[
          ["What it does", approval.description && showUnseen(approval.description)],
          ["Account", accountOf(approval)],
          ["For", approval.user && showUnseen(approval.user)],
          ["Asked because", rule && showUnseen(rule)],
          ["Expires", expiresAt && status === "pending" ? <Time at={expiresAt} /> : undefined],
          ["Answered", answeredAt && <Answer at={answeredAt} by={answeredBy} />],
        ]}
      />
      {status === "pending" && may("approve") && (
        <ApprovalAnswers approval={approval} isCurrent={isCurrent} />
      )}
    </article>
  );
}

/** For a change by a capability: whose account it uses. */
function accountOf({ account, accountName }: ApiApproval): string | undefined {
  const words = [accountName, account && accountName ? `(${account})` : account].filter(Boolean);
  return words.length === 0 ? undefined : showUnseen(words.join(" "));
}

function Answer({ at, by }: { readonly at: string; readonly by?: string | undefined }) {
  return (
    <>
      <Time at={at} /> {by && `by ${showUnseen(by)}`}
    </>
  );
}

/** A command or a file change as people read it; anything else as JSON. */
function ApprovalInput({ approval: { input, diff } }: { readonly approval: ApiApproval }) {
  if (diff) return <WrittenFile diff={diff} input={input} />;
  if (isJsonObject(input)) {
    const { command, ...rest } = input;
    if (typeof command === "string") {
      return (
        <>
          <Code text={command} label="Command" />
          {Object.keys(rest).length > 0 && <JsonText value={rest} label="Other input" />}
        </>
      );
    }
  }
  return <JsonText value={input ?? {}} label="Input" />;
}

/** Where it is written, what comes before the changes (such as a size), and the changes. */
function WrittenFile({ diff, input }: { readonly diff: string; readonly input: ApiApproval["input"] }) {
  const hunks = readUnified(diff);
  const head = diff.split(/^@@ /m, 1)[0]?.trim() ?? "";
  const path = isJsonObject(input) && typeof input.path === "string" ? input.path : undefined;
  return (
    <>
      <Facts facts={[["Writes to", path && <code>{showUnseen(path)}</code>]]} />
      {head !== "" && <Code text={head} label="File" />}
      {hunks.length > 0 && <Diff label="What would be written" hunks={hunks} isWhole />}
      <details>
        <summary>Exact input</summary>
        <JsonText value={input ?? {}} label="Input" />
      </details>
    </>
  );
}
