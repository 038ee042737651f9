/** The files of a skill as a tree, and the chosen file's text with the findings on its lines. */
import type { ApiFileText, ApiSkill, ApiSkillFile } from "@metier/service/api";
import { useMemo } from "preact/hooks";
import { StatusBadge } from "../design/badge.tsx";
import { Answered, Empty } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { Source } from "../design/source.tsx";
import { Message, showUnseen } from "../design/text.tsx";
import { skillFilePath } from "../parts/skill-paths.ts";
import { address, linkTo } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";
import { countOf, formatBytes } from "../state/format.ts";
import { buildFileTree, type FileFolder } from "./file-tree.ts";

/** Above this number of files, folders start closed. */
const MOST_OPEN = 200;

/** `#/skill/…?tab=files&file=…&line=…`. */
export function linkToFile(skill: string, file: string, line?: number): string {
  return linkTo(["skill", skill], { tab: "files", file, line: line?.toString() });
}

export function FilesTab({ skill }: { readonly skill: ApiSkill }) {
  const { files } = skill;
  const tree = useMemo(() => buildFileTree(files), [files]);
  const chosen = files.find(({ path }) => path === address.value.query.get("file"));
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (files.length === 0) return <Empty title="It has no files.">{null}</Empty>;
  return (
    <div class="skill-files">
      <Section title="Files">
        <p class="soft small">
          {countOf(files.length, "file")}, {formatBytes(size)}
        </p>
        <Folder
          folder={tree}
          skill={skill.address}
          chosen={chosen?.path}
          isOpen={files.length <= MOST_OPEN}
        />
      </Section>
      {chosen ? (
        <Preview key={chosen.path} skill={skill} file={chosen} />
      ) : (
        <Empty title="Choose a file to read it.">{null}</Empty>
      )}
    </div>
  );
}

interface FolderProps {
  readonly folder: FileFolder;
  readonly skill: string;
  readonly chosen: string | undefined;
  readonly isOpen: boolean;
}

function Folder({ folder: { folders, files }, skill, chosen, isOpen }: FolderProps) {
  return (
    <ul class="file-tree">
      {files.map(({ name, file: { path, size, kind } }) => (
        <li key={name}>
          <a href={linkToFile(skill, path)} aria-current={path === chosen ? "true" : undefined}>
            <span>{showUnseen(name)}</span>
            <span class="soft small">
              {kind === "other" ? "" : `${kind} · `}
              {formatBytes(size)}
            </span>
          </a>
        </li>
      ))}
      {folders.map((inner) => (
        <li key={`folder ${inner.name}`}>
          <details open={isOpen}>
            <summary>{showUnseen(inner.name)}/</summary>
            <Folder folder={inner} skill={skill} chosen={chosen} isOpen={isOpen} />
          </details>
        </li>
      ))}
    </ul>
  );
}

function Preview({ skill, file: { path } }: { readonly skill: ApiSkill; readonly file: ApiSkillFile }) {
  const answerPath = skillFilePath(skill.address, path);
  const known = useAnswer<ApiFileText>(answerPath);
  const line = Number(address.value.query.get("line")) || undefined;
  return (
    <Section title={showUnseen(path)}>
      <Answered known={known} path={answerPath}>
        {({ text, size, isCut }) =>
          text === undefined ? (
            <Empty title="This file is not text.">
              <p class="soft">{formatBytes(size)}</p>
            </Empty>
          ) : (
            <>
              {isCut && <p class="soft">Only the start is shown; the file has {formatBytes(size)}.</p>}
              <Source label={path} text={text} line={line} notes={notesOf(skill, path)} />
            </>
          )
        }
      </Answered>
    </Section>
  );
}

function notesOf({ findings, diagnostics }: ApiSkill, path: string) {
  const found = [
    ...findings.map(({ rule, ...rest }) => ({ ...rest, code: rule })),
    ...diagnostics.map((diagnostic) => diagnostic),
  ];
  return found.flatMap(({ path: place, line, severity, message, code }) =>
    place !== path || line === undefined
      ? []
      : [
          {
            line,
            note: (
              <>
                <StatusBadge status={severity} /> <Message text={message} />{" "}
                <span class="soft">({code})</span>
              </>
            ),
          },
        ],
  );
}
