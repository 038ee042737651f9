/** The facts about a run that are always visible: skill, trust, user, time, duration and usage. */
import type { ApiRun, ApiRunEvent } from "@metier/service/api";
import { Badge, StatusBadge } from "../design/badge.tsx";
import { Facts, Figures } from "../design/facts.tsx";
import { Notice } from "../design/notice.tsx";
import { Message, showUnseen, Time } from "../design/text.tsx";
import { linkTo } from "../state/address.ts";
import { formatCost, formatDuration, formatNumber, formatTokens, shortId } from "../state/format.ts";
import { redactionsIn } from "../state/redactions.ts";
import { eventText } from "./read-event.ts";
import type { RunStep } from "./steps.ts";

interface SummaryProps {
  readonly run: ApiRun;
  readonly events: readonly ApiRunEvent[];
  readonly steps: readonly RunStep[];
  readonly waitedMs: number;
  /** From the first span to the last, with waits. */
  readonly wholeMs: number;
}

export function RunSummaryHead({ run, events, steps, waitedMs, wholeMs }: SummaryProps) {
  const started = events.find(({ type }) => type === "run-started");
  const ended = events.findLast(({ type }) => type === "run-finished");
  const last = steps.at(-1);
  const usage = run.usage ?? undefined;
  const tokens = usage?.totalTokens ?? last?.sum.tokens ?? 0;
  const activeMs = ended ? run.activeMs : Math.max(run.activeMs, wholeMs - waitedMs);
  return (
    <div class="card stack">
      <Figures
        figures={[
          ["Worked", formatDuration(activeMs)],
          ["Waited", formatDuration(waitedMs)],
          ["Steps", formatNumber(steps.length)],
          [
            "Tokens",
            <span
              key="tokens"
              title={
                usage && `${formatNumber(usage.inputTokens)} in, ${formatNumber(usage.outputTokens)} out`
              }
            >
              {formatTokens(tokens)}
            </span>,
          ],
          ["Cost", formatCost(run.cost ?? last?.sum.cost)],
          ["Redactions", <Redactions key="redactions" events={events} />],
        ]}
      />
      <Origin run={run} started={started} />
    </div>
  );
}

/** What was run, and for whom. */
function Origin({ run, started }: { readonly run: ApiRun; readonly started: ApiRunEvent | undefined }) {
  return (
    <div class="columns">
      <Facts
        facts={[
          ["Skill", <SkillName key="skill" run={run} started={started} />],
          [
            "Model",
            <code key="model">
              {showUnseen(run.model ?? (started && eventText(started, "model")) ?? "–")}
            </code>,
          ],
          [
            "Content",
            run.digest && (
              <code key="digest" title={run.digest}>
                {shortId(run.digest)}
              </code>
            ),
          ],
        ]}
      />
      <Facts
        facts={[
          ["Started", <Time key="began" at={run.createdAt} />],
          ["Last change", <Time key="changed" at={run.updatedAt} />],
          ["For", forWhom(run, started)],
          [
            "Part of",
            run.parent && (
              <a key="parent" href={linkTo(["run", run.parent])}>
                {shortId(run.parent)}
              </a>
            ),
          ],
        ]}
      />
    </div>
  );
}

function forWhom(run: ApiRun, started: ApiRunEvent | undefined): string {
  const user = showUnseen(run.userId ?? (started && eventText(started, "userId")) ?? "nobody in particular");
  return run.agent === undefined ? user : `${user}, by the agent ${showUnseen(run.agent)}`;
}

function SkillName({ run, started }: { readonly run: ApiRun; readonly started: ApiRunEvent | undefined }) {
  const trust = run.trust ?? (started && eventText(started, "trust"));
  if (run.skill === undefined) return <>a conversation</>;
  return (
    <span class="row">
      <a href={linkTo(["skill", run.skill])}>{showUnseen(run.skill)}</a>
      {trust !== undefined && <StatusBadge status={trust} />}
    </span>
  );
}

function Redactions({ events }: { readonly events: readonly ApiRunEvent[] }) {
  const sums = new Map<string, number>();
  for (const event of events)
    for (const [name, count] of redactionsIn(event)) sums.set(name, (sums.get(name) ?? 0) + count);
  const counts = [...sums];
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  return (
    <span title={counts.map(([name, count]) => `${name}: ${count}`).join("\n")}>{formatNumber(all)}</span>
  );
}

/** Why it ended this way, if that needs explaining. */
export function RunEnding({ run }: { readonly run: ApiRun }) {
  const { status, error, limit, diagnostics = [] } = run;
  const isBad = status === "failed" || status === "refused";
  return (
    <>
      {(error !== undefined || isBad || status === "limited") && (
        <Notice tone={isBad ? "bad" : "warn"} title={TITLES[status] ?? `The run is ${status}.`}>
          {error && (
            <p>
              <Message text={error.message} /> <span class="soft small">{error.code}</span>
            </p>
          )}
          {limit !== undefined && <p>The limit on {showUnseen(limit)} was reached.</p>}
        </Notice>
      )}
      {diagnostics.length > 0 && (
        <ul class="plain-list small">
          {diagnostics.map(({ code, severity, message }) => (
            <li key={`${code} ${message}`}>
              <Badge tone={severity === "error" ? "bad" : "warn"}>{severity}</Badge>{" "}
              <Message text={message} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const TITLES: Readonly<Record<string, string>> = {
  failed: "This run failed.",
  refused: "This run was refused before it started.",
  limited: "A limit stopped this run.",
};
