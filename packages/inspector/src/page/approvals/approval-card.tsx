/** One approval: who wants to do what, exactly, and by which rule it is asked; with the answers one can give. */

import { isJsonObject } from "@metier/base/json";
import type { ApiApproval } from "@metier/service/api";
import { useState } from "preact/hooks";
import { StatusBadge } from "../design/badge.tsx";
import { Button } from "../design/button.tsx";
import { Diff, readUnified } from "../design/diff.tsx";
import { Facts } from "../design/facts.tsx";
import { TextField } from "../design/field.tsx";
import { FailureNotice, Notice } from "../design/notice.tsx";
import { Code, JsonText, showUnseen, Time } from "../design/text.tsx";
import { linkTo } from "../state/address.ts";
import { ask, type Failure, may, me, reloadAll } from "../state/answers.ts";
import { useKeys } from "../state/keys.ts";
import { readEdited } from "./edited-input.ts";

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
        <Notice tone="warn" title="This input is too large to be shown whole.">
          <p>It cannot be approved as it is. Deny it, or approve it with an input of your own.</p>
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

/** Of a change by a capability: whose account it is made with. */
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

/** A command or a file's change as people read it; anything else as JSON. */
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

/** Where it is written, what stands above the changes (such as a size), and the changes. */
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
        <summary>The exact input</summary>
        <JsonText value={input ?? {}} label="Input" />
      </details>
    </>
  );
}

type Answered = "approve" | "deny" | "always";

function ApprovalAnswers({ approval, isCurrent }: Pick<ApprovalCardProps, "approval" | "isCurrent">) {
  const { id, input, alwaysRule, isCut } = approval;
  // A change by a capability is confirmed as it is, or not at all.
  const isEditable = approval.kind === "approval";
  const original = JSON.stringify(input ?? {}, null, 2);
  const [edited, setEdited] = useState<string | undefined>(undefined);
  const [note, setNote] = useState("");
  const [failure, setFailure] = useState<Failure | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const reading = edited === undefined ? undefined : readEdited(edited);
  const answer = async (how: Answered): Promise<void> => {
    if (isBusy || (how !== "deny" && reading && !reading.ok)) return;
    setBusy(true);
    const isEdited = how !== "deny" && reading?.ok && edited !== original;
    const outcome = await ask(`/v1/approvals/${encodeURIComponent(id)}`, "POST", {
      decision: how === "deny" ? "deny" : "approve",
      ...(note !== "" && { note }),
      ...(isEdited && { input: reading.value }),
      ...(how === "always" && { always: true }),
    });
    setBusy(false);
    setFailure(outcome.ok ? undefined : outcome.refusal);
    reloadAll("/v1/approvals");
  };
  useKeys(
    isCurrent
      ? [
          { keys: "a", about: "Approve", group: "Approvals", act: () => void answer("approve") },
          { keys: "d", about: "Deny", group: "Approvals", act: () => void answer("deny") },
          {
            keys: "e",
            about: "Edit the input",
            group: "Approvals",
            act: () => isEditable && setEdited(original),
          },
        ]
      : [],
    [isCurrent, edited, note, isBusy],
  );
  const isAlwaysOffered = alwaysRule !== undefined && me.value?.mayEditRules && edited === undefined;
  return (
    <div class="stack">
      {edited !== undefined && (
        <TextField
          label="Input, as it will be carried out"
          rows={Math.min(16, edited.split("\n").length + 1)}
          isMono
          value={edited}
          error={reading?.ok === false ? reading.refusal.message : undefined}
          onInput={setEdited}
        />
      )}
      <TextField label="Note for the model (may be empty)" value={note} onInput={setNote} />
      <div class="row">
        <Button
          kind="accent"
          isDisabled={isBusy || reading?.ok === false || (isCut === true && edited === undefined)}
          onPress={() => void answer("approve")}
        >
          {edited === undefined ? "Approve" : "Approve as edited"}
        </Button>
        <Button kind="danger" isDisabled={isBusy} onPress={() => void answer("deny")}>
          Deny
        </Button>
        {isEditable && (
          <Button
            isPressed={edited !== undefined}
            onPress={() => setEdited(edited === undefined ? original : undefined)}
          >
            Edit the input
          </Button>
        )}
        {isAlwaysOffered && (
          <Button isDisabled={isBusy} onPress={() => void answer("always")}>
            Always for this rule
          </Button>
        )}
      </div>
      {isAlwaysOffered && (
        <p class="small soft">
          “Always” writes <code>{showUnseen(alwaysRule)}</code> into your configuration.
        </p>
      )}
      {failure && <FailureNotice failure={failure} />}
    </div>
  );
}
