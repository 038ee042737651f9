/** A question before something that can't be undone. The most serious ones need typed confirmation. */
import type { Result } from "@metier/base/result";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { TextField } from "../design/field.tsx";
import { FailureNotice } from "../design/notice.tsx";
import { showUnseen } from "../design/text.tsx";
import type { Failure } from "../state/answers.ts";

interface AskFirstProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** The label of the button that does it. */
  readonly action: string;
  /** The label of the button that cancels. */
  readonly leave: string;
  /** What must be typed first. */
  readonly typed?: { readonly label: string; readonly text: string };
  act(): Promise<Result<unknown, Failure>>;
  onDone(): void;
  onClose(): void;
}

export function AskFirst(props: AskFirstProps) {
  const { title, children, action, leave, typed, act, onDone, onClose } = props;
  const [words, setWords] = useState("");
  const [failure, setFailure] = useState<Failure | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const isMeant = typed === undefined || isTyped(words, typed.text);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy || !isMeant) return;
    setBusy(true);
    const outcome = await act();
    setBusy(false);
    if (!outcome.ok) return setFailure(outcome.refusal);
    onDone();
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void submit(event)}>
        {children}
        {typed && <TextField label={typed.label} value={words} onInput={setWords} />}
        {failure && <FailureNotice failure={failure} />}
        <div class="row">
          <Button type="submit" kind="danger" isDisabled={isBusy || !isMeant}>
            {action}
          </Button>
          <Button onPress={onClose}>{leave}</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** As it is, or as it is shown: nobody can type invisible characters. */
function isTyped(words: string, text: string): boolean {
  return words !== "" && [text, text.trim(), showUnseen(text)].includes(words);
}
