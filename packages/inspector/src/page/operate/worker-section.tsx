/** The processes that advance runs; each can be told to take no more. */
import type { ApiWorker } from "@metier/service/api";
import { useState } from "preact/hooks";
import { Badge, type Tone } from "../design/badge.tsx";
import { Bar } from "../design/bar.tsx";
import { Button } from "../design/button.tsx";
import { Empty } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { PlainTable } from "../design/plain-table.tsx";
import { GivenName, Message, showUnseen, Time } from "../design/text.tsx";
import { AskFirst } from "../parts/ask-first.tsx";
import { FirstRows } from "../parts/first-rows.tsx";
import { ask, may, reloadAll } from "../state/answers.ts";
import { countOf, formatNumber } from "../state/format.ts";

const TONES: Readonly<Record<ApiWorker["state"], Tone>> = {
  working: "good",
  draining: "warn",
  silent: "bad",
};
const ABOUT: Readonly<Record<ApiWorker["state"], string>> = {
  working: "It takes runs.",
  draining: "It takes no more runs.",
  silent: "It has been silent for a while. Others continue its runs.",
};

export function WorkerSection({ workers }: { readonly workers: readonly ApiWorker[] }) {
  const [drained, setDrained] = useState<ApiWorker | undefined>(undefined);
  return (
    <Section title={`Workers: ${formatNumber(workers.length)}`}>
      {drained && <DrainWorker worker={drained} onClose={() => setDrained(undefined)} />}
      {workers.length === 0 ? (
        <Empty title="No workers found.">
          <p>
            <Message text="`metier serve` advances runs itself, unless it was told not to. Start more with `metier worker`." />
          </p>
        </Empty>
      ) : (
        <FirstRows rows={workers}>
          {(rows) => (
            <PlainTable
              label="Workers"
              rows={rows}
              columns={[
                { title: "Host", isName: true, render: ({ host }) => <GivenName text={host} /> },
                {
                  title: "State",
                  render: ({ state }) => (
                    <Badge tone={TONES[state]} title={ABOUT[state]}>
                      {state}
                    </Badge>
                  ),
                },
                {
                  title: "Action",
                  render: (worker) => <DrainButton worker={worker} onPress={() => setDrained(worker)} />,
                },
                { title: "Slots in use", render: (worker) => <Slots worker={worker} /> },
                { title: "Last seen", render: ({ seenAt }) => <Time at={seenAt} /> },
                { title: "Started", render: ({ startedAt }) => <Time at={startedAt} /> },
                { title: "Version", render: ({ version }) => showUnseen(version) },
                { title: "Id", render: ({ id }) => <code class="id">{showUnseen(id)}</code> },
              ]}
            />
          )}
        </FirstRows>
      )}
    </Section>
  );
}

function Slots({ worker: { active, slots } }: { readonly worker: ApiWorker }) {
  return (
    <span class="bar-line">
      <Bar share={slots === 0 ? 0 : active / slots} />
      {formatNumber(active)} of {formatNumber(slots)}
    </span>
  );
}

function DrainButton({
  worker: { state, host, id },
  onPress,
}: {
  readonly worker: ApiWorker;
  onPress(): void;
}) {
  if (state !== "working" || !may("operate")) return null;
  return (
    <Button label={`Drain ${showUnseen(host)} ${showUnseen(id)}`} onPress={onPress}>
      Drain
    </Button>
  );
}

function DrainWorker({
  worker: { id, host, active },
  onClose,
}: {
  readonly worker: ApiWorker;
  onClose(): void;
}) {
  return (
    <AskFirst
      title="Drain this worker?"
      action="Drain it"
      leave="Keep it running"
      act={() => ask(`/v1/workers/${encodeURIComponent(id)}/drain`, "POST")}
      onDone={() => reloadAll("/v1/workers")}
      onClose={onClose}
    >
      <p>
        <strong>{showUnseen(host)}</strong> takes no more runs, gives back its current ones after the current
        step, and exits. It has {countOf(active, "run")} now; others continue them. To get it back, start it
        again.
      </p>
    </AskFirst>
  );
}
