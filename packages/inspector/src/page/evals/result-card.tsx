/** One graded run of an eval: what passed, the evidence, and the answer. */

import type { ApiFileText } from "@metier/service/api";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Badge, type Tone } from "../design/badge.tsx";
import { Button } from "../design/button.tsx";
import { Markdown } from "../design/markdown.tsx";
import { Answered } from "../design/notice.tsx";
import { Message, showUnseen } from "../design/text.tsx";
import { useAnswer } from "../state/answers.ts";
import { countOf, formatCost } from "../state/format.ts";
import { ARM_NAMES, type EvalExpectation, type EvalResult } from "./benchmark.ts";

const VERDICTS: Readonly<Record<EvalExpectation["verdict"], readonly [Tone, string]>> = {
  passed: ["good", "passed"],
  failed: ["bad", "failed"],
  ungraded: ["warn", "not graded"],
};

interface ResultCardProps {
  readonly result: EvalResult;
  readonly skill: string;
  readonly number: string;
  readonly isReplayed: boolean;
}

export function ResultCard({ result, skill, number, isReplayed }: ResultCardProps) {
  const {
    arm,
    number: run,
    passed,
    total,
    seconds,
    tokens,
    toolCalls,
    cost,
    expectations,
    notes,
    outputs,
  } = result;
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
        {seconds.toFixed(1)} s{isReplayed && " when recorded"}, {countOf(tokens, "token")},{" "}
        {countOf(toolCalls, "tool call")}
        {cost !== undefined && `, ${formatCost(cost)}`}
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
    file.text === undefined ? <p class="soft">Not text.</p> : <Markdown text={file.text} />;
  return (
    <div class="stack">
      <p class="small mono">{showUnseen(path)}</p>
      <Answered known={known} path={address}>
        {body}
      </Answered>
    </div>
  );
}
