/** The possible answers to an approval: as it is, with edited input, always, or deny. */
import type { ApiApproval } from "@metier/service/api";
import { useState } from "preact/hooks";
import { Button } from "../design/button.tsx";
import { TextField } from "../design/field.tsx";
import { FailureNotice } from "../design/notice.tsx";
import { showUnseen } from "../design/text.tsx";
import { ask, type Failure, me, reloadAll } from "../state/answers.ts";
import { useKeys } from "../state/keys.ts";
import { readEdited } from "./edited-input.ts";

interface ApprovalAnswersProps {
  readonly approval: ApiApproval;
  readonly isCurrent: boolean;
}

export function ApprovalAnswers({ approval, isCurrent }: ApprovalAnswersProps) {
  const answering = useAnswering(approval);
  const { edited, note, isBusy, reading, failure, answer, setEdited, setNote, edit } = answering;
  const group = "Approvals";
  useKeys(
    isCurrent
      ? [
          { keys: "a", about: "Approve", group, act: () => void answer("approve") },
          { keys: "d", about: "Deny", group, act: () => void answer("deny") },
          { keys: "e", about: "Edit the input", group, act: edit },
        ]
      : [],
    [isCurrent, edited, note, isBusy],
  );
  return (
    <div class="stack">
      {edited !== undefined && (
        <TextField
          label="Input to use"
          rows={Math.min(16, edited.split("\n").length + 1)}
          isMono
          value={edited}
          error={reading?.ok === false ? reading.refusal.message : undefined}
          onInput={setEdited}
        />
      )}
      <TextField label="Note for the model (optional)" value={note} onInput={setNote} />
      <AnswerButtons approval={approval} answering={answering} />
      {failure && <FailureNotice failure={failure} />}
    </div>
  );
}

type Answering = ReturnType<typeof useAnswering>;

/** The answer being given, and sending it. */
function useAnswering({ id, input, kind }: ApiApproval) {
  const original = JSON.stringify(input ?? {}, null, 2);
  // A change by a capability is confirmed unchanged, or not at all.
  const isEditable = kind === "approval";
  const [edited, setEdited] = useState<string | undefined>(undefined);
  const [note, setNote] = useState("");
  const [failure, setFailure] = useState<Failure | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const reading = edited === undefined ? undefined : readEdited(edited);
  const answer = async (how: "approve" | "deny" | "always"): Promise<void> => {
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
  const edit = (): void => {
    if (isEditable) setEdited(original);
  };
  const leave = (): void => setEdited(undefined);
  return { isEditable, edited, note, failure, isBusy, reading, answer, setEdited, setNote, edit, leave };
}

interface AnswerButtonsProps {
  readonly approval: ApiApproval;
  readonly answering: Answering;
}

function AnswerButtons({ approval: { alwaysRule, isCut }, answering }: AnswerButtonsProps) {
  const { isEditable, edited, isBusy, reading, answer, edit, leave } = answering;
  const isAlwaysOffered = alwaysRule !== undefined && me.value?.mayEditRules && edited === undefined;
  return (
    <>
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
          <Button isPressed={edited !== undefined} onPress={edited === undefined ? edit : leave}>
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
          “Always” adds <code>{showUnseen(alwaysRule)}</code> to your config.
        </p>
      )}
    </>
  );
}
