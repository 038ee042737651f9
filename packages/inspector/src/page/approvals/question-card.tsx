/** A question that a skill asks its user during a run, answered by a choice or in words. */

import type { ApiQuestion } from "@metier/service/api";
import { useState } from "preact/hooks";
import { Button } from "../design/button.tsx";
import { TextField } from "../design/field.tsx";
import { FailureNotice } from "../design/notice.tsx";
import { showUnseen, Time } from "../design/text.tsx";
import { linkTo } from "../state/address.ts";
import { ask, type Failure, may, reloadAll } from "../state/answers.ts";

export function QuestionCard({ question }: { readonly question: ApiQuestion }) {
  const { id, run, askedAt, options = [] } = question;
  const [text, setText] = useState("");
  const [failure, setFailure] = useState<Failure | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const answer = async (value: string): Promise<void> => {
    setBusy(true);
    const outcome = await ask(`/v1/questions/${encodeURIComponent(id)}`, "POST", { answer: value });
    setBusy(false);
    setFailure(outcome.ok ? undefined : outcome.refusal);
    reloadAll("/v1/questions");
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    void answer(text);
  };
  return (
    <article class="card stack">
      <div class="row">
        <h3>{showUnseen(question.question)}</h3>
        <span class="soft">
          <a href={linkTo(["run", run])}>run {run}</a>, <Time at={askedAt} />
        </span>
      </div>
      {may("run") && (
        <form class="stack" onSubmit={submit}>
          {options.length > 0 && (
            <div class="row">
              {options.map((option) => (
                <Button key={option} isDisabled={isBusy} onPress={() => void answer(option)}>
                  {showUnseen(option)}
                </Button>
              ))}
            </div>
          )}
          <TextField label="Answer" value={text} onInput={setText} />
          <div class="row">
            <Button type="submit" kind="accent" isDisabled={isBusy || text === ""}>
              Answer
            </Button>
          </div>
        </form>
      )}
      {failure && <FailureNotice failure={failure} />}
    </article>
  );
}
