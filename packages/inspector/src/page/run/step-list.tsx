/** The steps of a run: closed ones in two lines with their problems, open ones with everything. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Badge } from "../design/badge.tsx";
import { Button } from "../design/button.tsx";
import { Empty } from "../design/notice.tsx";
import { markRedactions, showUnseen } from "../design/text.tsx";
import { address, changeQuery } from "../state/address.ts";
import { formatCost, formatDuration, formatTokens } from "../state/format.ts";
import { redactionsIn } from "../state/redactions.ts";
import { StepDetails } from "./step-details.tsx";
import { firstLine, problemsOf, type RunStep, workedMs } from "./steps.ts";

interface StepListProps {
  readonly runId: string;
  readonly steps: readonly RunStep[];
  /** What the model is writing now. */
  readonly writing: string;
  readonly hasEnded: boolean;
}

export function StepList({ runId, steps, writing, hasEnded }: StepListProps) {
  const { query } = address.value;
  const wanted = query.get("step");
  const isFull = query.get("steps") === "full";
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const isThere = steps.some(({ number }) => String(number) === wanted);
  useEffect(() => {
    if (wanted === undefined || !isThere) return;
    setOpened((before) => new Set([...before, Number(wanted)]));
    requestAnimationFrame(() =>
      document.getElementById(`step-${wanted}`)?.scrollIntoView({ block: "start" }),
    );
  }, [wanted, isThere]);
  const toggle = (number: number): void => {
    const isOpen = opened.has(number);
    const next = new Set(opened);
    if (isOpen) next.delete(number);
    else next.add(number);
    setOpened(next);
    changeQuery({ step: isOpen ? undefined : String(number) });
  };
  if (steps.length === 0) return <NoSteps hasEnded={hasEnded} />;
  const last = steps.at(-1);
  return (
    <div class="stack">
      <div class="row">
        <Button
          isPressed={isFull}
          onPress={() => {
            setOpened(new Set());
            changeQuery({ steps: isFull ? undefined : "full", step: undefined });
          }}
        >
          Show all details
        </Button>
      </div>
      <ol class="steps">
        {steps.map((step) => (
          <StepItem
            key={step.number}
            runId={runId}
            step={step}
            isOpen={isFull || opened.has(step.number)}
            isWanted={String(step.number) === wanted}
            writing={step === last && !step.isAnswered ? writing : ""}
            onToggle={() => toggle(step.number)}
          />
        ))}
      </ol>
    </div>
  );
}

function NoSteps({ hasEnded }: { readonly hasEnded: boolean }) {
  return (
    <Empty title={hasEnded ? "This run ended before its first step." : "Nothing has happened yet."}>
      <p>{hasEnded ? "The log shows why." : "Steps appear here as soon as the model is called."}</p>
    </Empty>
  );
}

interface StepItemProps {
  readonly runId: string;
  readonly step: RunStep;
  readonly isOpen: boolean;
  readonly isWanted: boolean;
  readonly writing: string;
  onToggle(): void;
}

function StepItem({ runId, step, isOpen, isWanted, writing, onToggle }: StepItemProps) {
  const { number, text, calls, usage, cost } = step;
  const problems = problemsOf(step);
  const redactions = [...redactionsIn(step).values()].reduce((sum, count) => sum + count, 0);
  const isWaiting = calls.some(({ approvals }) => approvals.some(({ status }) => status === "pending"));
  return (
    <li id={`step-${number}`} class={isWanted ? "step wanted" : "step"}>
      <h3>
        <button type="button" class="step-head" aria-expanded={isOpen} onClick={onToggle}>
          <span class="step-number">{number}</span>
          <span class="step-what clip">
            {calls.map(({ callId, tool }) => (
              <code key={callId}>{showUnseen(tool)}</code>
            ))}
            <span class={text === "" ? "soft" : undefined}>{shortText(step, writing)}</span>
          </span>
          <span class="step-marks">
            {isWaiting && <Badge tone="warn">waits for approval</Badge>}
            {redactions > 0 && <Badge tone="plain">{redactions} redacted</Badge>}
            {problems.length > 0 && (
              <Badge tone="bad">{problems.length === 1 ? "problem" : `${problems.length} problems`}</Badge>
            )}
          </span>
          <span class="step-figures small soft number">
            <span>{usage ? `${formatTokens(usage.totalTokens)} tokens` : ""}</span>
            <span>{cost === undefined ? "" : formatCost(cost)}</span>
            <span>{step.isAnswered ? formatDuration(workedMs(step)) : ""}</span>
          </span>
        </button>
      </h3>
      {!isOpen && problems[0] !== undefined && (
        <p class="step-problem small">{markRedactions(problems[0])}</p>
      )}
      {isOpen && (
        <WhenNear isNow={isWanted}>
          {() => <StepDetails runId={runId} step={step} writing={writing} problems={problems} />}
        </WhenNear>
      )}
      {!isOpen && writing !== "" && <p class="step-writing small">{markRedactions(writing.slice(-300))}</p>}
    </li>
  );
}

/** Drawn when the reader comes near: all details of a thousand steps would take seconds. */
function WhenNear({
  isNow,
  children,
}: {
  readonly isNow: boolean;
  readonly children: () => ComponentChildren;
}) {
  const place = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(isNow);
  useEffect(() => {
    const { current } = place;
    if (!current) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true);
      },
      { rootMargin: "100%" },
    );
    observer.observe(current);
    return () => observer.disconnect();
  }, [isNear]);
  return isNear ? children() : <div ref={place} class="step-body later" />;
}

function shortText(step: RunStep, writing: string) {
  if (step.text !== "") return markRedactions(firstLine(step.text));
  if (writing !== "") return "The model is writing…";
  if (!step.isAnswered) return "Calling the model…";
  return step.calls.length === 0 ? "No text" : "";
}
