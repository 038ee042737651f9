/** Cron entries that start runs: the next time, the last result, and pausing them. */

import type { ApiList, ApiSchedule } from "@metier/service/api";
import { useState } from "preact/hooks";
import { Badge } from "../design/badge.tsx";
import { Button } from "../design/button.tsx";
import { Facts } from "../design/facts.tsx";
import { Answered, Empty, FailureNotice } from "../design/notice.tsx";
import { ViewPage } from "../design/page.tsx";
import { JsonText, Message, showUnseen, Time } from "../design/text.tsx";
import { NewSchedule } from "../parts/new-schedule.tsx";
import { linkTo } from "../state/address.ts";
import { ask, type Failure, may, reloadAll, useAnswer } from "../state/answers.ts";

const PATH = "/v1/schedules?limit=100";

export function Schedules() {
  const known = useAnswer<ApiList<ApiSchedule>>(PATH);
  const [isMaking, setMaking] = useState(false);
  return (
    <ViewPage
      title="Schedules"
      lead="Runs that start at set times."
      actions={
        may("write") && (
          <Button kind="accent" onPress={() => setMaking(true)}>
            New schedule
          </Button>
        )
      }
    >
      {isMaking && <NewSchedule onClose={() => setMaking(false)} />}
      <Answered known={known} path={PATH}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No schedules yet.">
              <p>
                <Message text="A schedule starts a skill by a cron line, such as `0 7 * * 1` for Mondays at 7:00." />
              </p>
            </Empty>
          ) : (
            data.map((schedule) => <ScheduleCard key={schedule.id} schedule={schedule} />)
          )
        }
      </Answered>
    </ViewPage>
  );
}

function ScheduleCard({ schedule }: { readonly schedule: ApiSchedule }) {
  const { id, name, cron, timeZone, catchUp, isPaused, nextAt, lastAt, lastRun, lastFault, run } = schedule;
  const [failure, setFailure] = useState<Failure | undefined>(undefined);
  const change = async (method: "PUT" | "DELETE"): Promise<void> => {
    const body = method === "PUT" ? { isPaused: !isPaused } : undefined;
    const outcome = await ask(`/v1/schedules/${encodeURIComponent(id)}`, method, body);
    setFailure(outcome.ok ? undefined : outcome.refusal);
    reloadAll("/v1/schedules");
  };
  const skill = typeof run.skill === "string" ? run.skill : "";
  return (
    <article class="card stack">
      <div class="row">
        <h2>{showUnseen(name)}</h2>
        {isPaused && <Badge tone="warn">paused</Badge>}
      </div>
      <Facts
        facts={[
          ["Starts", <a href={linkTo(["skill", skill])}>{showUnseen(skill)}</a>],
          [
            "When",
            <>
              <code>{cron}</code> in {timeZone}
            </>,
          ],
          ["Next", isPaused ? "not while it is paused" : <Time at={nextAt} />],
          ["Last", lastAt && <LastTime at={lastAt} run={lastRun} fault={lastFault} />],
          ["Missed times", CATCH_UP[catchUp] ?? catchUp],
        ]}
      />
      <details>
        <summary>What it starts</summary>
        <JsonText value={run} label="Request" />
      </details>
      {may("write") && (
        <div class="row">
          <Button onPress={() => void change("PUT")}>{isPaused ? "Resume" : "Pause"}</Button>
          <Button kind="danger" onPress={() => void change("DELETE")}>
            Remove
          </Button>
        </div>
      )}
      {failure && <FailureNotice failure={failure} />}
    </article>
  );
}

const CATCH_UP: Readonly<Record<string, string>> = {
  one: "one run for all of them",
  all: "one run for each",
  skip: "skipped",
};

interface LastTimeProps {
  readonly at: string;
  readonly run?: string | undefined;
  readonly fault?: string | undefined;
}

function LastTime({ at, run, fault }: LastTimeProps) {
  return (
    <>
      <Time at={at} /> {run && <a href={linkTo(["run", run])}>run {run}</a>}{" "}
      {fault && <Badge tone="bad">{showUnseen(fault)}</Badge>}
    </>
  );
}
