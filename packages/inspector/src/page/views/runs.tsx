/** All runs, newest first, live; the address holds the filter. */
import { useMemo } from "preact/hooks";
import { Button, LinkButton } from "../design/button.tsx";
import { ChoiceField, TextField } from "../design/field.tsx";
import { Empty, FailureNotice } from "../design/notice.tsx";
import { ViewPage } from "../design/page.tsx";
import { Message } from "../design/text.tsx";
import { RunTable } from "../parts/run-table.tsx";
import {
  FILTER_NAMES,
  filterRuns,
  isNarrowed,
  type ListedRunFilter,
  readFilter,
  valuesOf,
} from "../run/filter-runs.ts";
import { SavedFilterBar } from "../run/saved-filter-bar.tsx";
import { address, changeQuery, linkTo } from "../state/address.ts";
import { type AllRuns, FIRST_RUNS, useAllRuns } from "../state/all-runs.ts";
import { countOf, formatCost, formatTokens } from "../state/format.ts";

const STATUSES = ["queued", "running", "waiting", "completed", "limited", "failed", "refused", "cancelled"];
const MINUTE_MS = 60_000;

export function RunsView() {
  const all = useAllRuns();
  const { query } = address.value;
  const filter = useMemo(() => readFilter(query), [query]);
  // "Today" moves on, but not with every typed letter.
  const minute = Math.floor(Date.now() / MINUTE_MS);
  const shown = useMemo(() => filterRuns(all.runs, filter, minute * MINUTE_MS), [all.runs, filter, minute]);
  return (
    <ViewPage title="Runs" actions={<LinkButton href={linkTo(["statistics"])}>Statistics</LinkButton>}>
      <SavedFilterBar filter={filter} />
      <Filters all={all} filter={filter} />
      {all.failure && <FailureNotice failure={all.failure} path={FIRST_RUNS} />}
      {all.runs.length === 0 ? (
        <NoRuns all={all} />
      ) : shown.length === 0 ? (
        <Empty title="No run matches this filter.">
          <Button onPress={() => changeQuery(NO_FILTER)}>Show all runs</Button>
        </Empty>
      ) : (
        <>
          <Totals all={all} shown={shown} filter={filter} />
          <RunTable runs={shown} />
        </>
      )}
    </ViewPage>
  );
}

const NO_FILTER = Object.fromEntries(FILTER_NAMES.map((name) => [name, undefined]));

function NoRuns({ all }: { readonly all: AllRuns }) {
  if (all.isLoading) return <p class="soft loading">Loading…</p>;
  if (all.failure) return null;
  return (
    <Empty title="No runs yet.">
      <p>
        <Message text="Start one in the playground, or in a terminal: `metier run <skill> <message>`." />
      </p>
      <p>
        <a href={linkTo(["playground"])}>Go to the playground</a>
      </p>
    </Empty>
  );
}

function Totals({
  all,
  shown,
  filter,
}: {
  readonly all: AllRuns;
  readonly shown: AllRuns["runs"];
  readonly filter: ListedRunFilter;
}) {
  const sums = useMemo(() => {
    let [tokens, cost] = [0, 0];
    for (const run of shown) {
      tokens += run.usage?.totalTokens ?? 0;
      cost += run.cost ?? 0;
    }
    return { tokens, cost };
  }, [shown]);
  return (
    <p class="soft small" role="status">
      {isNarrowed(filter)
        ? `${countOf(shown.length, "run")} of ${all.runs.length.toLocaleString("en-US")}`
        : countOf(shown.length, "run")}
      {` · ${formatTokens(sums.tokens)} tokens · ${formatCost(sums.cost)}`}
      {all.isLoading && " · loading older runs…"}
      {all.isCut && " · older ones are not shown"}
    </p>
  );
}

function Filters({ all, filter }: { readonly all: AllRuns; readonly filter: ListedRunFilter }) {
  const { runs } = all;
  const skills = useMemo(() => valuesOf(runs, "skill"), [runs]);
  const agents = useMemo(() => valuesOf(runs, "agent"), [runs]);
  const users = useMemo(() => valuesOf(runs, "userId"), [runs]);
  const set = (name: keyof ListedRunFilter) => (value: string) => changeQuery({ [name]: value });
  return (
    <div class="filters">
      <TextField
        label="Search"
        type="search"
        isSearch
        value={filter.q}
        placeholder="Id, skill, user, model"
        onInput={set("q")}
      />
      <Choice label="Skill" value={filter.skill} values={skills} onChange={set("skill")} />
      <ChoiceField
        label="Status"
        value={filter.status}
        options={[["", "All"], ...STATUSES, ["failed,limited,refused", "failed, limited or refused"]]}
        onChange={set("status")}
      />
      <ChoiceField
        label="Time"
        value={filter.time}
        options={[
          ["", "All"],
          ["today", "Today"],
          ["7d", "Last 7 days"],
          ["30d", "Last 30 days"],
          ["between", "From … to …"],
        ]}
        onChange={(time) =>
          changeQuery({ time, ...(time !== "between" && { from: undefined, to: undefined }) })
        }
      />
      {filter.time === "between" && (
        <>
          <TextField label="From" type="date" value={filter.from} onInput={set("from")} />
          <TextField label="To" type="date" value={filter.to} onInput={set("to")} />
        </>
      )}
      <Choice label="Agent" value={filter.agent} values={agents} onChange={set("agent")} />
      <Choice label="User" value={filter.user} values={users} onChange={set("user")} />
      <TextField
        label="Cost at least (US dollars)"
        type="number"
        value={filter.cost}
        placeholder="0.50"
        onInput={set("cost")}
      />
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly values: readonly string[];
  onChange(value: string): void;
}

/** A value from the address is offered even if no run has it. */
function Choice({ label, value, values, onChange }: ChoiceProps) {
  if (values.length === 0 && value === "") return null;
  const all = value === "" || values.includes(value) ? values : [value, ...values];
  return <ChoiceField label={label} value={value} options={[["", "All"], ...all]} onChange={onChange} />;
}
