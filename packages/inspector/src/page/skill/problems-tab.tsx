/** The problems of a skill and the findings of the scan, each with a link to its line. */
import type { ApiFinding, ApiSkill } from "@metier/service/api";
import { StatusBadge } from "../design/badge.tsx";
import { Empty } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { Message, showUnseen } from "../design/text.tsx";
import { ProblemList } from "../parts/problem-list.tsx";
import { linkToFile } from "./files-tab.tsx";

export function ProblemsTab({ skill }: { readonly skill: ApiSkill }) {
  const { address, diagnostics, findings } = skill;
  return (
    <>
      <Section title="Problems">
        {diagnostics.length === 0 ? (
          <Empty title="No problems in its files.">
            <p class="soft">
              The same checks as <code>metier validate</code>.
            </p>
          </Empty>
        ) : (
          <ProblemList
            diagnostics={diagnostics}
            placeOf={({ path, line }) => path && <Place skill={address} path={path} line={line} />}
          />
        )}
      </Section>
      <Section title="Scan findings">
        {findings.length === 0 ? (
          <Empty title="The scan found nothing dangerous.">
            <p class="soft">
              The same rules as <code>metier scan</code>. A scan finds known patterns; it proves nothing.
            </p>
          </Empty>
        ) : (
          <ul class="problems">
            {findings.map((finding, index) => (
              <Finding key={`${index}`} skill={address} finding={finding} />
            ))}
          </ul>
        )}
      </Section>
    </>
  );
}

function Finding({ skill, finding }: { readonly skill: string; readonly finding: ApiFinding }) {
  const { severity, message, path, line, rule } = finding;
  return (
    <li>
      <StatusBadge status={severity} />
      <div class="stack tight">
        <p>
          <Message text={message} />
        </p>
        <p class="small soft">
          <Place skill={skill} path={path} line={line} /> <code>{rule}</code>
        </p>
      </div>
    </li>
  );
}

interface PlaceProps {
  readonly skill: string;
  readonly path: string;
  readonly line?: number | undefined;
}

function Place({ skill, path, line }: PlaceProps) {
  return (
    <a href={linkToFile(skill, path, line)}>
      {showUnseen(path)}
      {line !== undefined && `:${line}`}
    </a>
  );
}
