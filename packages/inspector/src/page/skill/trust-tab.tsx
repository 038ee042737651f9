/** Why a skill is trusted or not: grants, its content identity, and the changes between two versions. */
import type { ApiDiff, ApiFileDiff, ApiSkill, ApiSkillVersion } from "@metier/service/api";
import { Badge, StatusBadge } from "../design/badge.tsx";
import { Diff } from "../design/diff.tsx";
import { Facts } from "../design/facts.tsx";
import { ChoiceField } from "../design/field.tsx";
import { Answered, Empty } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { CopyButton, Message, showUnseen, Time } from "../design/text.tsx";
import { skillDiffPath } from "../parts/skill-paths.ts";
import { address, changeQuery } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";
import { countOf, shortId } from "../state/format.ts";

export function TrustTab({ skill }: { readonly skill: ApiSkill }) {
  const { trust, trustReason, digest, grants } = skill;
  return (
    <>
      <Section title="Trust">
        <Facts
          facts={[
            ["Level", <StatusBadge key="level" status={trust} />],
            ["Why", <Message key="why" text={trustReason} />],
            [
              "Content",
              digest ? <Digest key="content" digest={digest} /> : "Its content can't be determined.",
            ],
          ]}
        />
      </Section>
      <Section title="Grants">
        {grants.length === 0 ? (
          <NoGrants skill={skill} />
        ) : (
          <ul class="skill-grants">
            {grants.map(({ what, at, by }, index) => (
              <li key={`${index}`}>
                {showUnseen(what)}
                <span class="soft">
                  {by && ` by ${showUnseen(by)}`} {at && <Time at={at} />}
                </span>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Versions skill={skill} />
    </>
  );
}

function NoGrants({ skill: { trust, name } }: { readonly skill: ApiSkill }) {
  if (trust === "trusted") return <p class="soft">It needs none.</p>;
  return (
    <Empty title="Nobody has trusted it.">
      <p>
        Read it, then trust exactly this content with <code>metier trust {showUnseen(name)}</code>.
      </p>
    </Empty>
  );
}

function Digest({ digest }: { readonly digest: string }) {
  return (
    <span class="row">
      <code>{digest}</code>
      <CopyButton text={digest} />
    </span>
  );
}

function Versions({ skill: { address: skill, versions } }: { readonly skill: ApiSkill }) {
  const { query } = address.value;
  const current = versions.find(({ isCurrent }) => isCurrent) ?? versions[0];
  const other = versions.find((version) => version !== current);
  if (current === undefined || other === undefined) {
    return (
      <Section title="Versions">
        <Empty title="Only this version is known.">
          <p>
            After <code>metier update</code>, the previous version stays and can be compared here.
          </p>
        </Empty>
      </Section>
    );
  }
  const find = (digest: string | undefined): string | undefined =>
    versions.find((version) => version.digest === digest)?.digest;
  const from = find(query.get("from")) ?? other.digest;
  const to = find(query.get("to")) ?? current.digest;
  const options = versions.map((version) => [version.digest, showVersion(version)] as const);
  return (
    <Section title="Versions">
      <div class="skill-versions">
        <ChoiceField
          label="From"
          value={from}
          options={options}
          onChange={(digest) => changeQuery({ from: digest })}
        />
        <ChoiceField
          label="To"
          value={to}
          options={options}
          onChange={(digest) => changeQuery({ to: digest })}
        />
      </div>
      {from === to ? (
        <p class="soft">Choose two different versions.</p>
      ) : (
        <Changes path={skillDiffPath(skill, from, to)} />
      )}
    </Section>
  );
}

function showVersion({ digest, label, isCurrent, at }: ApiSkillVersion): string {
  return [isCurrent ? `${label} (current)` : label, shortId(digest), at?.slice(0, 10)]
    .filter(Boolean)
    .join(" · ");
}

function Changes({ path }: { readonly path: string }) {
  const known = useAnswer<ApiDiff>(path);
  return (
    <Answered known={known} path={path}>
      {({ files }) => {
        const found = files.reduce((sum, { findings }) => sum + findings.length, 0);
        return (
          <>
            <p role="status">
              {files.length === 0
                ? "Both versions have the same files."
                : `${countOf(files.length, "file")} changed`}
              {files.length > 0 && found > 0 && `; ${countOf(found, "finding")} on new lines`}
            </p>
            {files.map((file) => (
              <FileChange key={file.path} file={file} />
            ))}
          </>
        );
      }}
    </Answered>
  );
}

const TONES = { added: "good", removed: "bad", changed: "accent" } as const;

function FileChange({ file: { path, change, hunks, findings } }: { readonly file: ApiFileDiff }) {
  const rest = hunks === undefined ? findings : findings.filter(({ line }) => line === undefined);
  return (
    <div class="stack skill-change">
      <h3 class="row">
        <code>{showUnseen(path)}</code> <Badge tone={TONES[change]}>{change}</Badge>
      </h3>
      {rest.map(({ rule, severity, message }) => (
        <p key={rule}>
          <StatusBadge status={severity} /> {message} <span class="soft">({rule})</span>
        </p>
      ))}
      {hunks === undefined ? (
        <p class="soft">It isn't text, or is too large to compare line by line.</p>
      ) : (
        <Diff label={`Changes in ${path}`} hunks={hunks} findings={findings} />
      )}
    </div>
  );
}
