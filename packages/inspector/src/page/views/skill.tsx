/** Everything about one skill: whether it can be used and why, its contents, its trust, and its results. */
import type { ApiSkill } from "@metier/service/api";
import type { ComponentChildren } from "preact";
import { Badge, StatusBadge } from "../design/badge.tsx";
import { LinkButton } from "../design/button.tsx";
import { Answered, Notice } from "../design/notice.tsx";
import { ViewPage } from "../design/page.tsx";
import { type Tab, Tabs } from "../design/tabs.tsx";
import { Message, showUnseen } from "../design/text.tsx";
import { skillPath } from "../parts/skill-paths.ts";
import { ClientsTab } from "../skill/clients-tab.tsx";
import { CostTab } from "../skill/cost-tab.tsx";
import { FilesTab } from "../skill/files-tab.tsx";
import { InstructionsTab } from "../skill/instructions-tab.tsx";
import { ManifestTab } from "../skill/manifest-tab.tsx";
import { ProblemsTab } from "../skill/problems-tab.tsx";
import { RunsTab } from "../skill/runs-tab.tsx";
import { TestsTab } from "../skill/tests-tab.tsx";
import { TrustTab } from "../skill/trust-tab.tsx";
import { changeQuery, goTo, linkTo } from "../state/address.ts";
import { isExport, may, useAnswer } from "../state/answers.ts";
import { useKeys } from "../state/keys.ts";
import type { ViewProps } from "./all-views.ts";

interface SkillTab extends Omit<Tab, "render" | "count"> {
  readonly count?: (skill: ApiSkill) => number;
  readonly render: (skill: ApiSkill) => ComponentChildren;
}

const TABS: readonly SkillTab[] = [
  { id: "instructions", title: "Instructions", render: (skill) => <InstructionsTab skill={skill} /> },
  { id: "manifest", title: "Manifest", render: (skill) => <ManifestTab skill={skill} /> },
  {
    id: "files",
    title: "Files",
    count: ({ files }) => files.length,
    render: (skill) => <FilesTab skill={skill} />,
  },
  {
    id: "problems",
    title: "Problems",
    count: ({ diagnostics, findings }) => diagnostics.length + findings.length,
    render: (skill) => <ProblemsTab skill={skill} />,
  },
  { id: "trust", title: "Trust", render: (skill) => <TrustTab skill={skill} /> },
  { id: "clients", title: "Clients", render: (skill) => <ClientsTab skill={skill} /> },
  { id: "tests", title: "Tests and evals", render: (skill) => <TestsTab skill={skill} /> },
  { id: "runs", title: "Runs", render: (skill) => <RunsTab skill={skill} /> },
  { id: "cost", title: "Cost", render: (skill) => <CostTab skill={skill} /> },
];

function tabsOf(skill: ApiSkill): readonly Tab[] {
  return TABS.map(({ id, title, count, render }) => ({
    id,
    title,
    count: count?.(skill),
    render: () => render(skill),
  }));
}

export function SkillView({ rest: [asked = ""] }: ViewProps) {
  const path = skillPath(asked);
  const known = useAnswer<ApiSkill>(path);
  const { value: skill } = known;
  useKeys([
    {
      keys: "t",
      about: "Try it in the playground",
      group: "Skill",
      act: () => goTo(["playground"], { skill: asked }),
    },
    ...TABS.map(({ id, title }, index) => ({
      keys: `${index + 1}`,
      about: title,
      group: "Skill",
      act: () => changeQuery({ tab: index === 0 ? undefined : id }),
    })),
  ]);
  return (
    <ViewPage
      title={showUnseen(skill?.displayName ?? skill?.name ?? asked)}
      mark={skill && <Marks skill={skill} />}
      lead={skill && <p class="skill-about">{showUnseen(skill.description)}</p>}
      actions={skill && !isExport && <Actions skill={skill} />}
    >
      <Answered known={known} path={path}>
        {(value) => (
          <>
            <WhyNot skill={value} />
            <Tabs label="About this skill" tabs={tabsOf(value)} />
          </>
        )}
      </Answered>
    </ViewPage>
  );
}

function Marks({ skill: { status, trust, trustReason, scope, isForUsers, isForModels } }: SkillProps) {
  return (
    <>
      <StatusBadge status={status} />
      <StatusBadge status={trust} title={trustReason} />
      <Badge title="Where it comes from">{showUnseen(scope)}</Badge>
      <Badge>{audienceOf(isForUsers, isForModels)}</Badge>
    </>
  );
}

interface SkillProps {
  readonly skill: ApiSkill;
}

function audienceOf(isForUsers: boolean, isForModels: boolean): string {
  if (isForUsers && isForModels) return "for users and models";
  if (isForUsers) return "for users only";
  return isForModels ? "for models only" : "for nobody";
}

function Actions({ skill: { address, name, status } }: SkillProps) {
  return (
    <>
      <LinkButton href={linkTo(["runs"], { skill: name })}>All its runs</LinkButton>
      {may("run") && status !== "invalid" && (
        <a class="button accent" href={linkTo(["playground"], { skill: address })}>
          Try it
        </a>
      )}
    </>
  );
}

/** Why it can't be used, which skill shadows it, and which it shadows. */
function WhyNot({ skill }: SkillProps) {
  const { address, status, reason, shadowedBy, shadows, trust, trustReason } = skill;
  return (
    <>
      {status !== "enabled" && (
        <Notice tone={status === "invalid" ? "bad" : "warn"} title={TITLES[status]}>
          {reason && (
            <p>
              <Message text={reason} />
            </p>
          )}
          {shadowedBy && (
            <p>
              Hidden by <a href={linkTo(["skill", shadowedBy])}>{showUnseen(shadowedBy)}</a>
            </p>
          )}
        </Notice>
      )}
      {trust === "untrusted" && status !== "invalid" && (
        <Notice tone="warn" title="It is untrusted, so it may do less.">
          <p>
            <Message text={trustReason} />{" "}
            <a href={linkTo(["skill", address], { tab: "trust" })}>What trust is based on</a>
          </p>
        </Notice>
      )}
      {shadows.length > 0 && (
        <p class="soft">
          Hides{" "}
          {shadows.map((other) => (
            <a key={other} href={linkTo(["skill", other])}>
              {showUnseen(other)}
            </a>
          ))}{" "}
          (same name, lower precedence).
        </p>
      )}
    </>
  );
}

const TITLES: Readonly<Record<Exclude<ApiSkill["status"], "enabled">, string>> = {
  disabled: "This skill is disabled.",
  unavailable: "This skill can't be used here.",
  shadowed: "Another skill with the same name is used instead.",
  invalid: "This skill can't be loaded.",
};
