/** What the skill declared, was granted and used, side by side. */

import type { ApiRun } from "@metier/service/api";
import { Badge } from "../design/badge.tsx";
import { Empty } from "../design/notice.tsx";
import { PlainTable } from "../design/plain-table.tsx";
import { showUnseen } from "../design/text.tsx";
import { compareReach, remarkOn } from "./reach.ts";

export function ReachPanel({ run }: { readonly run: ApiRun }) {
  const { sandbox } = run;
  if (sandbox === undefined)
    return (
      <Empty title="This run's reach is not known yet.">
        <p>It is reported when the run ends. A refused run has none.</p>
      </Empty>
    );
  const rows = compareReach(sandbox);
  return (
    <div class="stack">
      <p>
        Commands were isolated by <code>{showUnseen(sandbox.backend)}</code>.
      </p>
      {rows.length === 0 ? (
        <Empty title="This run was granted no reach, and used none.">
          <p>It could use only its own work folder.</p>
        </Empty>
      ) : (
        <PlainTable
          label="Declared, granted and used reach"
          rows={rows}
          columns={[
            {
              title: "Reach",
              isName: true,
              render: ({ kind, item }) => (
                <>
                  {showUnseen(kind)} <code>{showUnseen(item)}</code>
                </>
              ),
            },
            { title: "Declared", render: ({ isDeclared }) => <YesNo is={isDeclared} /> },
            { title: "Granted", render: ({ isGranted }) => <YesNo is={isGranted} /> },
            {
              title: "Used",
              render: ({ isUsed }) => (isUsed ? <Badge tone="accent">used</Badge> : <YesNo is={false} />),
            },
            { title: "Remark", render: (row) => <Remark text={remarkOn(row)} /> },
          ]}
        />
      )}
    </div>
  );
}

function YesNo({ is }: { readonly is: boolean }) {
  return is ? <>yes</> : <span class="soft">no</span>;
}

function Remark({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : <Badge tone="warn">{text}</Badge>;
}
