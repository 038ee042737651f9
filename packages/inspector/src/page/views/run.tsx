/** One run, live: what it is, its timeline, its steps, and what it left. */
import type { ApiApproval, ApiList, ApiRun } from "@metier/service/api";
import { useEffect, useMemo, useState } from "preact/hooks";
import { StatusBadge } from "../design/badge.tsx";
import { Markdown } from "../design/markdown.tsx";
import { Answered, Empty, Notice } from "../design/notice.tsx";
import { Section, ViewPage } from "../design/page.tsx";
import { Tabs } from "../design/tabs.tsx";
import { JsonText, showUnseen } from "../design/text.tsx";
import { RunTable } from "../parts/run-table.tsx";
import { FilesPanel } from "../run/files-panel.tsx";
import { LogPanel } from "../run/log-panel.tsx";
import { ReachPanel } from "../run/reach-panel.tsx";
import { hasEnded, RunActions } from "../run/run-actions.tsx";
import { StepList } from "../run/step-list.tsx";
import { buildSteps } from "../run/steps.ts";
import { RunEnding, RunSummaryHead } from "../run/summary.tsx";
import { buildTimeline, measure } from "../run/timeline.ts";
import { useChildEvents } from "../run/use-children.ts";
import { Waterfall } from "../run/waterfall.tsx";
import { linkTo } from "../state/address.ts";
import { isExport, useAnswer } from "../state/answers.ts";
import { countOf } from "../state/format.ts";
import { useRunEvents } from "../state/live.ts";
import type { ViewProps } from "./all-views.ts";

export function RunDetails({ rest }: ViewProps) {
  const [id] = rest;
  const path = id === undefined ? undefined : `/v1/runs/${encodeURIComponent(id)}`;
  const known = useAnswer<ApiRun>(path);
  if (id === undefined || path === undefined)
    return (
      <ViewPage title="Run">
        <Empty title="The address names no run.">
          <p>
            <a href={linkTo(["runs"])}>See all runs</a>
          </p>
        </Empty>
      </ViewPage>
    );
  if (known.value) return <KnownRun key={id} run={known.value} />;
  return (
    <ViewPage title="Run">
      <Answered known={known} path={path}>
        {() => null}
      </Answered>
    </ViewPage>
  );
}

function KnownRun({ run }: { readonly run: ApiRun }) {
  const { events, writing } = useRunEvents(run.id);
  const childEvents = useChildEvents(events);
  const isOver = hasEnded(run);
  const now = useNow(!isOver);
  const steps = useMemo(() => buildSteps(events), [events]);
  const spans = useMemo(() => buildTimeline(events, childEvents), [events, childEvents]);
  const until = isOver ? Date.parse(run.updatedAt) : now;
  const { waitedMs, from, to } = measure(spans, until);
  const message = steps[0]?.message ?? "";
  // The clock moves the timeline; that need not touch a thousand steps.
  const stepList = useMemo(
    () => <StepList runId={run.id} steps={steps} writing={writing} hasEnded={isOver} />,
    [run.id, steps, writing, isOver],
  );
  return (
    <ViewPage
      title={showUnseen(run.skill ?? "Conversation")}
      mark={<StatusBadge status={run.status} />}
      lead={
        <>
          Run <code>{showUnseen(run.id)}</code>
        </>
      }
      actions={<RunActions run={run} events={events} childEvents={childEvents} message={message} />}
    >
      <Waiting run={run} />
      <RunSummaryHead run={run} events={events} steps={steps} waitedMs={waitedMs} wholeMs={to - from} />
      <RunEnding run={run} />
      {spans.length > 0 && (
        <Section title="Timeline">
          <Waterfall spans={spans} runId={run.id} now={until} />
        </Section>
      )}
      <Tabs
        label="Parts of the run"
        tabs={[
          {
            id: "steps",
            title: "Steps",
            count: steps.length,
            render: () => stepList,
          },
          { id: "answer", title: "Answer", render: () => <Answer run={run} writing={writing} /> },
          { id: "reach", title: "Reach", render: () => <ReachPanel run={run} /> },
          { id: "files", title: "Files", render: () => <FilesPanel runId={run.id} /> },
          {
            id: "children",
            title: "Child runs",
            count: run.children?.length ?? childEvents.size,
            render: () => <Children run={run} />,
          },
          { id: "log", title: "Log", count: events.length, render: () => <LogPanel events={events} /> },
        ]}
      />
    </ViewPage>
  );
}

const TICK_MS = 500;

/** The clock, while it matters. */
function useNow(isTicking: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isTicking) return undefined;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}

/** What the run waits for, answered in the approvals view. */
function Waiting({ run }: { readonly run: ApiRun }) {
  const isAsked = !isExport && !hasEnded(run);
  const query = `run=${encodeURIComponent(run.id)}&status=pending`;
  const approvals = useAnswer<ApiList<ApiApproval>>(isAsked ? `/v1/approvals?${query}` : undefined).value;
  const questions = useAnswer<ApiList<{ readonly id: string }>>(
    isAsked ? `/v1/questions?${query}` : undefined,
  ).value;
  const asked = approvals?.data ?? [];
  const open = questions?.data.length ?? 0;
  if (!isAsked || asked.length + open === 0) return null;
  return (
    <Notice tone="warn" title="This run is waiting for an answer.">
      <p>
        {[
          ...asked.map(({ tool, kind }) =>
            kind === "approval" ? `May it call ${tool}?` : `It needs a confirmation.`,
          ),
          ...(open > 0 ? [countOf(open, "question")] : []),
        ]
          .map(showUnseen)
          .join(" · ")}
      </p>
      <p>
        <a href={linkTo(["approvals"], { run: run.id })}>Review and answer</a>
      </p>
    </Notice>
  );
}

function Answer({ run, writing }: { readonly run: ApiRun; readonly writing: string }) {
  const { text, object } = run;
  if (!text && object === undefined)
    return writing === "" ? (
      <Empty title={hasEnded(run) ? "This run has no answer." : "No answer yet."}>
        <p>The steps show what happened so far.</p>
      </Empty>
    ) : (
      <div class="live-text">{showUnseen(writing)}</div>
    );
  return (
    <div class="stack">
      {text && <Markdown text={text} />}
      {object !== undefined && <JsonText value={object} label="Answer as data" />}
    </div>
  );
}

function Children({ run }: { readonly run: ApiRun }) {
  const children = run.children ?? [];
  if (children.length === 0)
    return (
      <Empty title="This run started no other runs.">
        <p>A skill that uses another skill starts a separate run for it.</p>
      </Empty>
    );
  return <RunTable runs={children} />;
}
