/** One iteration: both sides in sum, what failed and what could not be graded apart, and each answer itself. */

import type { ApiFileText } from "@metier/service/api";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Badge, type Tone } from "../design/badge.tsx";
import { Button } from "../design/button.tsx";
import { Facts, Figures } from "../design/facts.tsx";
import { ChoiceField } from "../design/field.tsx";
import { Markdown } from "../design/markdown.tsx";
import { Answered, Empty } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { Message, showUnseen, Time } from "../design/text.tsx";
import { address, changeQuery } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";
import { countOf, formatCost, formatNumber, shorten } from "../state/format.ts";
import {
  ARM_NAMES,
  type EvalBenchmark,
  type EvalExpectation,
  type EvalResult,
  isClear,
} from "./benchmark.ts";
import { formatSpread } from "./iteration-table.tsx";

interface IterationProps {
  readonly skill: string;
  readonly number: string;
  readonly benchmark: EvalBenchmark;
}

const SHOWN = ["all", "failed", "not graded", "errors"] as const;

export function IterationDetails({ skill, number, benchmark }: IterationProps) {
  const { arms, results, notes } = benchmark;
  const shown = SHOWN.find((one) => one === address.value.query.get("show")) ?? "all";
  const wanted = results.filter((result) => isWanted(result, shown));
  const groups = [...Map.groupBy(wanted, ({ id }) => id)];
  return (
    <>
      <Summary benchmark={benchmark} />
      <Section title="Both sides">
        <Arms arms={arms} />
      </Section>
      {notes.length > 0 && (
        <Section title="About the evals themselves">
          <ul>
            {notes.map((note) => (
              <li key={note}>
                <Message text={note} />
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="Every eval">
        <div class="filters">
          <ChoiceField
            label="Show"
            value={shown}
            options={SHOWN}
            onChange={(value) => changeQuery({ show: value === "all" ? undefined : value })}
          />
        </div>
        {groups.length === 0 && <Empty title={`No run is among "${shown}".`} />}
        {groups.map(([id, group]) => (
          <div key={id} class="card stack">
            <h3>{showUnseen(group[0]?.name ?? id)}</h3>
            <div class="columns">
              {group.map((result) => (
                <ResultCard
                  key={`${result.arm} ${result.number}`}
                  result={result}
                  skill={skill}
                  number={number}
                />
              ))}
            </div>
          </div>
        ))}
      </Section>
    </>
  );
}

function isWanted(
  { passed, total, errors, expectations }: EvalResult,
  shown: (typeof SHOWN)[number],
): boolean {
  if (shown === "failed") return passed < total;
  if (shown === "not graded") return expectations.some(({ verdict }) => verdict === "ungraded");
  return shown === "all" || errors > 0;
}

function Summary({ benchmark }: { readonly benchmark: EvalBenchmark }) {
  const { delta, results, model, grader, at, digest, isReplayed } = benchmark;
  return (
    <>
      <Figures
        figures={[
          ["Pass rate, difference", delta ? <Delta benchmark={benchmark} /> : "–"],
          ["Time, difference", delta ? `${signed(delta.seconds, 1)} s` : "–"],
          ["Tokens, difference", delta ? signed(delta.tokens, 0) : "–"],
          ["Runs", formatNumber(results.length)],
        ]}
      />
      <Facts
        facts={[
          ["When", <Time at={at} />],
          ["Model", `${model}${isReplayed ? ", replayed" : ""}`],
          ["Graded by", grader || undefined],
          ["Version of the skill", digest && <span class="mono">{shorten(digest, 16)}</span>],
        ]}
      />
    </>
  );
}

function Delta({ benchmark: { delta, arms } }: { readonly benchmark: EvalBenchmark }) {
  const [first, second] = arms;
  const isSure = first && second && isClear(first.passRate, second.passRate);
  return (
    <>
      {signed((delta?.passRate ?? 0) * 100, 0)} points{" "}
      {!isSure && <Badge title="The two spreads overlap: more runs would tell">within the noise</Badge>}
    </>
  );
}

function signed(value: number, digits: number): string {
  return `${value > 0 ? "+" : ""}${value.toFixed(digits)}`;
}

function Arms({ arms }: Pick<EvalBenchmark, "arms">) {
  return (
    <table class="plain-table">
      <thead>
        <tr>
          <th scope="col">Side</th>
          <th scope="col" class="number">
            Pass rate
          </th>
          <th scope="col" class="number">
            Time
          </th>
          <th scope="col" class="number">
            Tokens
          </th>
          <th scope="col" class="number">
            Cost
          </th>
          <th scope="col" class="number">
            Not graded
          </th>
        </tr>
      </thead>
      <tbody>
        {arms.map(({ name, passRate, seconds, tokens, cost, ungraded }) => (
          <tr key={name}>
            <th scope="row">{ARM_NAMES[name] ?? name}</th>
            <td class="number">{formatSpread(passRate)}</td>
            <td class="number">
              {seconds.mean.toFixed(1)} s{seconds.stddev > 0 && ` ± ${seconds.stddev.toFixed(1)} s`}
            </td>
            <td class="number">{formatNumber(Math.round(tokens.mean))}</td>
            <td class="number">{formatCost(cost?.mean)}</td>
            <td class="number">{ungraded}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const VERDICTS: Readonly<Record<EvalExpectation["verdict"], readonly [Tone, string]>> = {
  passed: ["good", "passed"],
  failed: ["bad", "failed"],
  ungraded: ["warn", "not graded"],
};

interface ResultCardProps {
  readonly result: EvalResult;
  readonly skill: string;
  readonly number: string;
}

function ResultCard({ result, skill, number }: ResultCardProps) {
  const { arm, number: run, passed, total, seconds, tokens, cost, expectations, notes, outputs } = result;
  const [isOpen, setOpen] = useState(false);
  return (
    <div class="stack">
      <div class="row">
        <strong>{ARM_NAMES[arm] ?? arm}</strong>
        <span class="soft">run {run}</span>
        <Badge tone={passed === total ? "good" : "bad"}>
          {passed} of {total}
        </Badge>
      </div>
      <p class="small soft">
        {seconds.toFixed(1)} s, {countOf(tokens, "token")}, {formatCost(cost)}
      </p>
      <ul class="expectations">
        {expectations.map((expectation) => (
          <Expectation key={expectation.text} expectation={expectation} />
        ))}
      </ul>
      {notes.map((note) => (
        <p key={note} class="small">
          <Message text={note} />
        </p>
      ))}
      {outputs.length > 0 && (
        <div class="row">
          <Button isPressed={isOpen} onPress={() => setOpen(!isOpen)}>
            {isOpen ? "Hide the answer" : "Show the answer"}
          </Button>
        </div>
      )}
      {isOpen && outputs.map((path) => <Output key={path} skill={skill} number={number} path={path} />)}
    </div>
  );
}

function Expectation({
  expectation: { text, evidence, verdict },
}: {
  readonly expectation: EvalExpectation;
}) {
  const [tone, word] = VERDICTS[verdict];
  return (
    <li>
      <Badge tone={tone}>{word}</Badge> {showUnseen(text)}
      {evidence && <span class="soft small block">{showUnseen(evidence)}</span>}
    </li>
  );
}

function Output({
  skill,
  number,
  path,
}: {
  readonly skill: string;
  readonly number: string;
  readonly path: string;
}) {
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  const address = `/v1/evals/${encodeURIComponent(skill)}/${encodeURIComponent(number)}/outputs/${encoded}`;
  const known = useAnswer<ApiFileText>(address);
  const body = (file: ApiFileText): ComponentChildren =>
    file.text === undefined ? <p class="soft">Not a text.</p> : <Markdown text={file.text} />;
  return (
    <div class="stack">
      <p class="small mono">{showUnseen(path)}</p>
      <Answered known={known} path={address}>
        {body}
      </Answered>
    </div>
  );
}
