/** What the skill asked for, what it was given and what it used, side by side. */
import type { ApiRun } from "@metier/service/api";
import { Badge } from "../design/badge.tsx";
import { Empty } from "../design/notice.tsx";
import { showUnseen } from "../design/text.tsx";
import { compareReach, type ReachRow, remarkOn } from "./reach.ts";

export function ReachPanel({ run }: { readonly run: ApiRun }) {
  const { sandbox } = run;
  if (sandbox === undefined)
    return (
      <Empty title="What this run reached is not known yet.">
        <p>It is told when the run ends. A run that was refused has none.</p>
      </Empty>
    );
  const rows = compareReach(sandbox);
  return (
    <div class="stack">
      <p>
        Commands were held by <code>{showUnseen(sandbox.backend)}</code>.
      </p>
      {rows.length === 0 ? (
        <Empty title="This run was given no reach, and used none.">
          <p>It could use its own work folder, and nothing else.</p>
        </Empty>
      ) : (
        <div class="scrolls" role="region" aria-label="Reach" tabIndex={0}>
          <table class="plain-table reach">
            <caption class="hidden">Declared, granted and used reach</caption>
            <thead>
              <tr>
                <th scope="col">Reach</th>
                <th scope="col">Declared</th>
                <th scope="col">Granted</th>
                <th scope="col">Used</th>
                <th scope="col">Remark</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row key={`${row.kind} ${row.item}`} row={row} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function Row({ row }: { readonly row: ReachRow }) {
  const { kind, item, isDeclared, isGranted, isUsed } = row;
  const remark = remarkOn(row);
  return (
    <tr>
      <th scope="row">
        {showUnseen(kind)} <code>{showUnseen(item)}</code>
      </th>
      <td>{isDeclared ? "yes" : <span class="soft">no</span>}</td>
      <td>{isGranted ? "yes" : <span class="soft">no</span>}</td>
      <td>{isUsed ? <Badge tone="accent">used</Badge> : <span class="soft">no</span>}</td>
      <td>{remark !== undefined && <Badge tone="warn">{remark}</Badge>}</td>
    </tr>
  );
}
