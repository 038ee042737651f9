/** The form for a new schedule. */
import { useState } from "preact/hooks";
import { Button } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { ChoiceField, TextField } from "../design/field.tsx";
import { FailureNotice } from "../design/notice.tsx";
import { ask, type Failure, reloadAll } from "../state/answers.ts";

export function NewSchedule({ onClose }: { onClose(): void }) {
  const [wish, setWish] = useState({
    name: "",
    skill: "",
    message: "",
    cron: "0 7 * * 1",
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    catchUp: "one",
  });
  const [failure, setFailure] = useState<Failure | undefined>(undefined);
  const set = (field: keyof typeof wish) => (value: string) => setWish({ ...wish, [field]: value });
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const { name, cron, timeZone, catchUp, skill, message } = wish;
    const run = { skill, ...(message !== "" && { message }) };
    const outcome = await ask("/v1/schedules", "POST", { name, cron, timeZone, catchUp, run });
    setFailure(outcome.ok ? undefined : outcome.refusal);
    if (!outcome.ok) return;
    reloadAll("/v1/schedules");
    onClose();
  };
  return (
    <Dialog title="New schedule" onClose={onClose}>
      <form class="stack" onSubmit={(event) => void submit(event)}>
        <TextField label="Name" value={wish.name} onInput={set("name")} />
        <TextField label="Skill" value={wish.skill} onInput={set("skill")} />
        <TextField label="Message" rows={3} value={wish.message} onInput={set("message")} />
        <TextField
          label="When"
          isMono
          value={wish.cron}
          hint="A cron line: minute, hour, day of the month, month, day of the week."
          onInput={set("cron")}
        />
        <TextField label="Time zone" value={wish.timeZone} onInput={set("timeZone")} />
        <ChoiceField
          label="Missed times"
          value={wish.catchUp}
          options={[
            ["one", "One run for all of them"],
            ["all", "One run for each"],
            ["skip", "Skip them"],
          ]}
          onChange={set("catchUp")}
        />
        {failure && <FailureNotice failure={failure} />}
        <div class="row">
          <Button type="submit" kind="accent" isDisabled={wish.name === "" || wish.skill === ""}>
            Create schedule
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
