/** Two runs side by side, step by step: what was the same, and what differed. */
import type { ApiRun } from "@metier/service/api";
import { useMemo } from "preact/hooks";
import { Badge, StatusBadge } from "../design/badge.tsx";
import { LinkButton } from "../design/button.tsx";
import { CheckField } from "../design/field.tsx";
import { Answered, Empty } from "../design/notice.tsx";
import { Section, ViewPage } from "../design/page.tsx";
import { showUnseen, Time } from "../design/text.tsx";
import {
  alignSteps,
  COMPARED,
  type Compared,
  differencesOf,
  isOtherContent,
  type StepPair,
  stepInput,
  stepOutput,
  toolNames,
} from "../run/compare-steps.ts";
import { buildSteps, type RunStep, workedMs } from "../run/steps.ts";
import { TextDiff } from "../run/text-diff.tsx";
import { address, changeQuery, linkTo } from "../state/address.ts";
import { isExport, useAnswer } from "../state/answers.ts";
import { countOf, formatCost, formatDuration, formatTokens, shortId } from "../state/format.ts";
import { useRunEvents } from "../state/live.ts";
import type { ViewProps } from "./all-views.ts";

export function Compare({ rest }: ViewProps) {
  const [left, right] = rest;
  const isWhole = left !== undefined && right !== undefined;
  const leftPath = isWhole ? `/v1/runs/${encodeURIComponent(left)}` : undefined;
  const rightPath = isWhole ? `/v1/runs/${encodeURIComponent(right)}` : undefined;
  const leftRun = useAnswer<ApiRun>(leftPath);
  const rightRun = useAnswer<ApiRun>(rightPath);
  return (
    <ViewPage
      title="Compare runs"
      actions={
        isWhole && !isExport && <LinkButton href={linkTo(["compare", right, left])}>Swap sides</LinkButton>
      }
    >
      {leftPath === undefined || rightPath === undefined ? (
        <Empty title="The address does not name two runs.">
          <p>
            Open a run and choose “Compare…”. <a href={linkTo(["runs"])}>See all runs</a>
          </p>
        </Empty>
      ) : (
        <Answered known={leftRun} path={leftPath}>
          {(one) => (
            <Answered known={rightRun} path={rightPath}>
              {(other) => <Both left={one} right={other} />}
            </Answered>
          )}
        </Answered>
      )}
    </ViewPage>
  );
}

function Both({ left, right }: { readonly left: ApiRun; readonly right: ApiRun }) {
  const leftEvents = useRunEvents(left.id).events;
  const rightEvents = useRunEvents(right.id).events;
  const pairs = useMemo(
    () =>
      alignSteps(buildSteps(leftEvents), buildSteps(rightEvents)).map((pair) => ({
        pair,
        differences: differencesOf(pair),
      })),
    [leftEvents, rightEvents],
  );
  const isNarrowed = address.value.query.get("only") === "different";
  const different = pairs.filter(({ differences }) => isOtherContent(differences));
  const shown = isNarrowed ? different : pairs;
  return (
    <>
      <Heads left={left} right={right} />
      {(left.text ?? "") !== (right.text ?? "") && (
        <Section title="Answer">
          <TextDiff label="Answers, before and after" left={left.text ?? ""} right={right.text ?? ""} />
        </Section>
      )}
      <Section
        title="Steps"
        actions={
          <CheckField
            label="Only different steps"
            isChecked={isNarrowed}
            onChange={(isOn) => changeQuery({ only: isOn ? "different" : undefined })}
          />
        }
      >
        <p class="soft small" role="status">
          {different.length === 0
            ? `All ${countOf(pairs.length, "step")} did the same.`
            : `${countOf(different.length, "step")} of ${pairs.length} differ in what they did.`}
        </p>
        <ol class="pairs">
          {shown.map(({ pair, differences }) => (
            <PairItem
              key={`${pair.left?.number} ${pair.right?.number}`}
              pair={pair}
              differences={differences}
              runs={[left.id, right.id]}
            />
          ))}
        </ol>
      </Section>
    </>
  );
}

type FigureRow = readonly [string, (run: ApiRun) => preact.ComponentChildren];

const FIGURES: readonly FigureRow[] = [
  ["Status", ({ status }) => <StatusBadge status={status} />],
  ["Skill", ({ skill }) => showUnseen(skill ?? "–")],
  ["Content", ({ digest }) => <code>{digest === undefined ? "–" : shortId(digest)}</code>],
  ["Model", ({ model }) => <code>{showUnseen(model ?? "–")}</code>],
  ["Started", ({ createdAt }) => <Time at={createdAt} />],
  ["Worked", ({ activeMs }) => formatDuration(activeMs)],
  ["Tokens", ({ usage }) => (usage ? formatTokens(usage.totalTokens) : "–")],
  ["Cost", ({ cost }) => formatCost(cost)],
];

function Heads({ left, right }: { readonly left: ApiRun; readonly right: ApiRun }) {
  return (
    <div class="scrolls" role="region" aria-label="Both runs" tabIndex={0}>
      <table class="plain-table">
        <caption class="hidden">Both runs in numbers</caption>
        <thead>
          <tr>
            <td />
            {[left, right].map(({ id }, index) => (
              <th key={`${index}`} scope="col">
                <a href={linkTo(["run", id])}>Run {showUnseen(shortId(id))}</a>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {FIGURES.map(([name, show]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{show(left)}</td>
              <td>{show(right)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface PairItemProps {
  readonly pair: StepPair;
  readonly differences: ReadonlySet<Compared>;
  readonly runs: readonly [string, string];
}

function PairItem({ pair, differences, runs }: PairItemProps) {
  const { left, right } = pair;
  const isOther = isOtherContent(differences);
  return (
    <li class={isOther ? "pair stack different" : "pair stack"}>
      <div class="pair-sides">
        <Side step={left} runId={runs[0]} />
        <Side step={right} runId={runs[1]} />
      </div>
      {left && right && (
        <div class="row small">
          {COMPARED.map((name) => (
            <Badge key={name} tone={differences.has(name) ? "warn" : "plain"}>
              {name}: {differences.has(name) ? "different" : "same"}
            </Badge>
          ))}
        </div>
      )}
      {left && right && <Texts left={left} right={right} differences={differences} />}
    </li>
  );
}

function Side({ step, runId }: { readonly step: RunStep | undefined; readonly runId: string }) {
  if (!step) return <p class="soft">No such step</p>;
  const { number, usage, cost } = step;
  const tools = toolNames(step);
  return (
    <div class="stack tight">
      <h3>
        <a href={linkTo(["run", runId], { step: String(number) })}>Step {number}</a>
      </h3>
      <p>
        {tools.length === 0
          ? "Answer without a call"
          : tools.map((tool, index) => <code key={`${index}`}>{showUnseen(tool)} </code>)}
      </p>
      <p class="small soft">
        {[
          usage && `${formatTokens(usage.totalTokens)} tokens`,
          cost !== undefined && formatCost(cost),
          formatDuration(workedMs(step)),
        ]
          .filter(Boolean)
          .join(" · ")}
      </p>
    </div>
  );
}

interface TextsProps {
  readonly left: RunStep;
  readonly right: RunStep;
  readonly differences: ReadonlySet<Compared>;
}

const TEXTS: readonly (readonly [Compared, string, (step: RunStep) => string])[] = [
  ["answer", "Text", ({ text }) => text],
  ["input", "Input", stepInput],
  ["output", "Output", stepOutput],
];

function Texts({ left, right, differences }: TextsProps) {
  return (
    <>
      {TEXTS.filter(([name]) => differences.has(name)).map(([name, title, read]) => (
        <div key={name} class="stack tight">
          <h4 class="part-title">{title}</h4>
          <TextDiff label={`${title} of step ${left.number}`} left={read(left)} right={read(right)} />
        </div>
      ))}
    </>
  );
}
