/** Every event of a run as recorded, by type. Each can be opened, and linked to (`?event=`). */
import type { ApiRunEvent } from "@metier/service/api";
import { useMemo } from "preact/hooks";
import { Dialog } from "../design/dialog.tsx";
import { ChoiceField } from "../design/field.tsx";
import { Empty } from "../design/notice.tsx";
import { Table } from "../design/table.tsx";
import { JsonText, showUnseen } from "../design/text.tsx";
import { address, changeQuery, linkTo } from "../state/address.ts";
import { countOf, formatDuration } from "../state/format.ts";
import { eventText, numberOf, timeOf } from "./read-event.ts";
import { firstLine } from "./steps.ts";

export function LogPanel({ events }: { readonly events: readonly ApiRunEvent[] }) {
  const { query, path } = address.value;
  const type = query.get("type") ?? "";
  const types = useMemo(() => [...new Set(events.map((event) => event.type))].sort(), [events]);
  const rows = useMemo(
    () => (type === "" ? events : events.filter((event) => event.type === type)),
    [events, type],
  );
  const opened = events.find(({ seq }) => String(seq) === query.get("event"));
  const start = events[0] ? timeOf(events[0]) : 0;
  if (events.length === 0)
    return (
      <Empty title="No events yet.">
        <p>Events appear here as they are recorded.</p>
      </Empty>
    );
  return (
    <div class="stack">
      <div class="filters">
        <ChoiceField
          label="Type"
          value={type}
          options={[["", `All (${events.length})`], ...types]}
          onChange={(value) => changeQuery({ type: value })}
        />
        <p class="soft small">{countOf(rows.length, "event")}</p>
      </div>
      <Table
        label="Events"
        rows={rows}
        keyOf={({ seq }) => String(seq)}
        linkOf={({ seq }) => linkTo(path, { ...Object.fromEntries(query), event: String(seq) })}
        columns={[
          { title: "Type", width: "minmax(8rem, 12rem)", render: (event) => showUnseen(event.type) },
          { title: "No.", width: "3.5rem", isNumber: true, isMinor: true, render: ({ seq }) => seq },
          {
            title: "After",
            width: "6rem",
            isNumber: true,
            render: (event) => `+${formatDuration(timeOf(event) - start)}`,
          },
          { title: "What", width: "minmax(0, 1fr)", render: summarize },
        ]}
      />
      {opened && (
        <Dialog
          title={`Event ${opened.seq}: ${opened.type}`}
          onClose={() => changeQuery({ event: undefined })}
        >
          <JsonText value={opened} label="Event" />
        </Dialog>
      )}
    </div>
  );
}

const NAMES = [
  "tool",
  "hook",
  "skill",
  "capability",
  "decision",
  "rule",
  "status",
  "reason",
  "message",
  "text",
];

function summarize(event: ApiRunEvent): string {
  const step = numberOf(event, "step");
  const words = NAMES.map((name) => eventText(event, name))
    .filter(Boolean)
    .map((text) => firstLine(text ?? ""));
  return showUnseen([...(step === undefined ? [] : [`step ${step}`]), ...words].join(" · ").slice(0, 200));
}
