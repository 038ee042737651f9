/** Everything about one step: the texts, each call with its input, decision and output, hooks, waits and costs. */
import { Badge, StatusBadge } from "../design/badge.tsx";
import { type Fact, Facts } from "../design/facts.tsx";
import { Markdown } from "../design/markdown.tsx";
import { Code, CopyButton, JsonText, markRedactions, showUnseen, Time } from "../design/text.tsx";
import { linkTo } from "../state/address.ts";
import { formatCost, formatDuration, formatNumber, formatTokens } from "../state/format.ts";
import type { RunStep, StepApproval, StepCall, StepHook } from "./steps.ts";

interface StepDetailsProps {
  readonly runId: string;
  readonly step: RunStep;
  readonly writing: string;
  readonly problems: readonly string[];
}

export function StepDetails({ runId, step, writing, problems }: StepDetailsProps) {
  const { number, text, message, calls, children, isAnswered } = step;
  const link = linkTo(["run", runId], { step: String(number) });
  return (
    <div class="step-body stack">
      {problems.length > 0 && (
        <ul class="step-problems small">
          {problems.map((problem) => (
            <li key={problem}>{markRedactions(problem)}</li>
          ))}
        </ul>
      )}
      {message !== "" && (
        <Part title="Message" body={<Code text={message} label={`Message of step ${number}`} />} />
      )}
      {text !== "" && <Part title={calls.length === 0 ? "Answer" : "Text"} body={<Markdown text={text} />} />}
      {!isAnswered && writing !== "" && (
        <Part title="The model is writing" body={<div class="live-text">{markRedactions(writing)}</div>} />
      )}
      {calls.map((call) => (
        <CallDetails key={call.callId} call={call} />
      ))}
      {children.length > 0 && (
        <Part
          title="Started runs"
          body={
            <ul class="plain-list">
              {children.map(({ id, skill }) => (
                <li key={id}>
                  <a href={linkTo(["run", id])}>{showUnseen(skill)}</a> <code>{showUnseen(id)}</code>
                </li>
              ))}
            </ul>
          }
        />
      )}
      <Facts facts={factsOf(step)} />
      <div class="row small">
        <a href={link}>Link to step {number}</a>
        <CopyButton text={new URL(link, location.href).href} label="Copy link" />
      </div>
    </div>
  );
}

function Part({ title, body }: { readonly title: string; readonly body: preact.ComponentChildren }) {
  return (
    <div class="stack tight">
      <h4 class="part-title">{title}</h4>
      {body}
    </div>
  );
}

function factsOf(step: RunStep): readonly Fact[] {
  const { usage, cost, sum, modelMs, finishReason, hooks, retries, capabilities, startedAt } = step;
  return [
    ["Started", <Time key="began" at={new Date(startedAt).toISOString()} />],
    [
      "Tokens",
      usage &&
        `${formatNumber(usage.inputTokens)} in, ${formatNumber(usage.outputTokens)} out; ${formatTokens(sum.tokens)} so far`,
    ],
    ["Cost", cost === undefined ? undefined : `${formatCost(cost)}; ${formatCost(sum.cost)} so far`],
    ["Model took", modelMs === undefined ? undefined : formatDuration(modelMs)],
    ["Ended because", finishReason],
    [
      "Retries",
      retries.length === 0
        ? undefined
        : retries.map(({ attempt, delayMs, reason }) => (
            <p key={attempt}>
              Try {attempt} after {formatDuration(delayMs)}: {markRedactions(reason)}
            </p>
          )),
    ],
    [
      "Hooks",
      hooks.length === 0 ? undefined : hooks.map((hook, index) => <HookLine key={`${index}`} hook={hook} />),
    ],
    [
      "Capabilities",
      capabilities.length === 0
        ? undefined
        : capabilities.map(({ name, account, isMutating, outcome, durationMs }, index) => (
            <p key={`${index}`}>
              <code>{showUnseen(name)}</code> {account && `as ${showUnseen(account)} `}
              <Badge tone={outcome === "ok" || outcome === "repeat" ? "good" : "bad"}>
                {showUnseen(outcome)}
              </Badge>{" "}
              {isMutating && <Badge tone="warn">changes something</Badge>} {formatDuration(durationMs)}
            </p>
          )),
    ],
  ];
}

function HookLine({ hook: { hook, tool, outcome, reason, durationMs } }: { readonly hook: StepHook }) {
  return (
    <p>
      <code>{showUnseen(hook)}</code> {tool && `for ${showUnseen(tool)} `}
      <Badge tone={outcome === "allow" ? "good" : "bad"}>{showUnseen(outcome)}</Badge>{" "}
      {formatDuration(durationMs)}
      {reason !== undefined && <> {markRedactions(reason)}</>}
    </p>
  );
}

const DECISIONS: Readonly<Record<string, readonly ["good" | "bad" | "plain", string]>> = {
  allow: ["good", "allowed"],
  approved: ["good", "approved"],
  deny: ["bad", "denied"],
};

function CallDetails({ call }: { readonly call: StepCall }) {
  const { tool, input, decision, rule, output, isError, durationMs, approvals, logs } = call;
  const [tone, word] = DECISIONS[decision ?? ""] ?? ["plain", decision ?? "not decided yet"];
  return (
    <div class="call stack">
      <div class="row">
        <h4>
          <code>{showUnseen(tool)}</code>
        </h4>
        <Badge tone={tone}>{word}</Badge>
        {isError && <Badge tone="bad">failed</Badge>}
        {durationMs !== undefined && <span class="small soft">{formatDuration(durationMs)}</span>}
        {rule !== undefined && rule !== "" && (
          <span class="small">
            <span class="soft">Rule:</span> {markRedactions(rule)}
          </span>
        )}
      </div>
      {approvals.map((approval) => (
        <ApprovalLine key={approval.questionId} approval={approval} />
      ))}
      <Part title="Input" body={<JsonText value={shownInput(input)} label={`Input of ${tool}`} />} />
      {logs.map(({ level, message }, index) => (
        <p key={`${index}`} class="small">
          <StatusBadge status={level} /> {markRedactions(message)}
        </p>
      ))}
      {output !== undefined && (
        <Part title="Output" body={<Code text={output} label={`Output of ${tool}`} />} />
      )}
    </div>
  );
}

/** A command alone reads better than the object around it. */
function shownInput(input: StepCall["input"]): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input ?? "";
  const [entry, ...others] = Object.entries(input);
  return entry && others.length === 0 && typeof entry[1] === "string" ? entry[1] : input;
}

function ApprovalLine({ approval }: { readonly approval: StepApproval }) {
  const { status, rule, askedAt, answeredAt, by, questionId } = approval;
  return (
    <p class="small">
      <StatusBadge status={status} /> Asked <Time at={new Date(askedAt).toISOString()} />
      {rule !== "" && <>: {markRedactions(rule)}</>}.{" "}
      {answeredAt !== undefined && (
        <>
          Answered {by !== undefined && <>by {showUnseen(by)} </>}after {formatDuration(answeredAt - askedAt)}
          .
        </>
      )}
      {status === "pending" && <a href={linkTo(["approvals"], { id: questionId })}>Answer it</a>}
    </p>
  );
}
