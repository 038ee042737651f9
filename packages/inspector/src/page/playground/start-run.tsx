/** The chosen skill: its arguments and input as a form, what a run would do, and the button that starts it. */
import type { ApiPlan, ApiSkill } from "@metier/service/api";
import { useEffect, useMemo, useState } from "preact/hooks";
import { StatusBadge } from "../design/badge.tsx";
import { Button } from "../design/button.tsx";
import { TextField } from "../design/field.tsx";
import { Answered, FailureNotice, Notice } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { Message, showUnseen } from "../design/text.tsx";
import { CATALOG, skillPath } from "../parts/skill-paths.ts";
import { goTo, linkTo } from "../state/address.ts";
import { ask, type Failure, isExport, may, useAnswer } from "../state/answers.ts";
import { useSettled } from "../state/settled.ts";
import { InputFields } from "./input-fields.tsx";
import { type Draft, readInputSchema, startDraft } from "./input-form.ts";
import { type DraftFault, readDraft, writtenArguments } from "./read-draft.ts";
import { RunPlan } from "./run-plan.tsx";

export function StartRun({ skill: asked, request }: { readonly skill: string; readonly request: string }) {
  const path = skillPath(asked);
  const known = useAnswer<ApiSkill>(path);
  return (
    <Section
      title={`Run ${showUnseen(known.value?.name ?? asked)}`}
      actions={<a href={linkTo(["skill", asked])}>Its page</a>}
    >
      <Answered known={known} path={path}>
        {(skill) => <RunForm skill={skill} request={request} />}
      </Answered>
    </Section>
  );
}

/** The form contents for the chosen skill. */
function useWish(skill: ApiSkill, request: string) {
  const form = useMemo(() => skill.inputSchema && readInputSchema(skill.inputSchema), [skill.inputSchema]);
  const [draft, setDraft] = useState<Draft>(() => (form ? startDraft(form) : ""));
  const [words, setWords] = useState<readonly string[]>(() => skill.arguments.map(() => ""));
  const [line, setLine] = useState("");
  const input = useMemo(() => (form ? readDraft(form, draft) : undefined), [form, draft]);
  const isNamed = skill.arguments.length > 0;
  const wish = {
    skill: skill.name,
    message: request.trim() === "" ? undefined : request.trim(),
    arguments: isNamed ? writtenArguments(words) : line.trim() === "" ? undefined : line,
    input: input?.value,
    approve: "ask",
  };
  return { form, draft, setDraft, words, setWords, line, setLine, wish, faults: input?.faults ?? [] };
}

type WishState = ReturnType<typeof useWish>;

function RunForm({ skill, request }: { readonly skill: ApiSkill; readonly request: string }) {
  const state = useWish(skill, request);
  const { wish, faults } = state;
  const [isTried, setTried] = useState(false);
  const [failure, setFailure] = useState<Failure | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setTried(true);
    if (faults.length > 0) return focusFault(event.currentTarget);
    setBusy(true);
    const started = await ask<{ readonly id: string }>("/v1/runs", "POST", wish);
    setBusy(false);
    if (started.ok) goTo(["run", started.value.id]);
    else setFailure(started.refusal);
  };
  return (
    <form class="stack" onSubmit={(event) => void submit(event)} noValidate>
      <SkillLine skill={skill} />
      <ArgumentFields names={skill.arguments} state={state} />
      {state.form && (
        <InputFields
          field={state.form}
          draft={state.draft}
          path=""
          faults={shownFaults(faults, isTried)}
          onChange={state.setDraft}
        />
      )}
      {may("run") ? (
        <div class="row">
          <Button type="submit" kind="accent" isDisabled={isBusy || skill.status !== "enabled"}>
            {isBusy ? "Starting…" : "Run"}
          </Button>
          <span class="soft small">It asks before it changes anything.</span>
        </div>
      ) : (
        <p class="soft">
          {isExport ? "An export can't start runs." : "Your key can't start runs: it lacks the scope `run`."}
        </p>
      )}
      {failure && <FailureNotice failure={failure} />}
      {may("run") && <PlanOf wish={faults.length > 0 ? undefined : JSON.stringify(wish)} />}
    </form>
  );
}

function shownFaults(faults: readonly DraftFault[], isTried: boolean): ReadonlyMap<string, string> {
  return new Map(
    faults.filter(({ isMissing }) => isTried || !isMissing).map(({ path, message }) => [path, message]),
  );
}

/** After the faults are drawn. */
function focusFault(form: EventTarget | null): void {
  setTimeout(() => form instanceof HTMLElement && form.querySelector<HTMLElement>("[aria-invalid]")?.focus());
}

function SkillLine({
  skill: { status, reason, shadowedBy, trust, description },
}: {
  readonly skill: ApiSkill;
}) {
  return (
    <>
      <p class="soft">{showUnseen(description)}</p>
      {trust === "untrusted" && (
        <p>
          <StatusBadge status="untrusted" /> It gets less than a trusted skill.
        </p>
      )}
      {status !== "enabled" && (
        <Notice tone="warn" title={`It can't run: it is ${status}.`}>
          {reason && (
            <p>
              <Message text={reason} />
            </p>
          )}
          {shadowedBy && (
            <p>
              <a href={linkTo(["playground"], { skill: shadowedBy })}>Try {showUnseen(shadowedBy)} instead</a>
            </p>
          )}
        </Notice>
      )}
    </>
  );
}

function ArgumentFields({ names, state }: { readonly names: readonly string[]; readonly state: WishState }) {
  const { words, setWords, line, setLine } = state;
  if (names.length === 0) {
    return (
      <TextField
        label="Arguments"
        hint="Replaces $ARGUMENTS in its instructions."
        value={line}
        onInput={setLine}
      />
    );
  }
  return (
    <>
      {names.map((name, index) => (
        <TextField
          key={name}
          label={showUnseen(name)}
          hint={`Argument ${index + 1}`}
          value={words[index] ?? ""}
          onInput={(value) =>
            setWords(names.map((_, place) => (place === index ? value : (words[place] ?? ""))))
          }
        />
      ))}
    </>
  );
}

const PLAN_PAUSE_MS = 400;

/** `wish`: as JSON; absent while something is missing or wrong in the form. */
function PlanOf({ wish }: { readonly wish: string | undefined }) {
  const settled = useSettled(wish, PLAN_PAUSE_MS);
  const [plan, setPlan] = useState<ApiPlan | undefined>(undefined);
  const [failure, setFailure] = useState<Failure | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    if (settled === undefined) return undefined;
    void ask<ApiPlan>(`${CATALOG}/plan`, "POST", JSON.parse(settled)).then((answer) => {
      if (!isCurrent) return;
      setPlan(answer.ok ? answer.value : undefined);
      setFailure(answer.ok ? undefined : answer.refusal);
    });
    return () => {
      isCurrent = false;
    };
  }, [settled]);
  return (
    <section class="stack run-plan" aria-label="Plan" aria-live="polite">
      <h3>What it would do</h3>
      {wish === undefined ? (
        <p class="soft">Fill in the required fields to see the plan.</p>
      ) : failure ? (
        <FailureNotice failure={failure} />
      ) : plan ? (
        <RunPlan plan={plan} />
      ) : (
        <p class="soft">Loading…</p>
      )}
    </section>
  );
}
