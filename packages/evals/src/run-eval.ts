/**
 * One run of one eval in one arm: the skill or its counterpart, a separate workspace and conversation, and what the
 * run left.
 */

import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { MetierError } from "@metier/base/errors";
import { listFiles, openContained, withContained } from "@metier/base/files";
import { realPathOr } from "@metier/base/places";
import { done, type Result, refused } from "@metier/base/result";
import { type RunRequest, type RunResult, refusalText } from "@metier/run";
import type { RunEvent } from "@metier/run/events";
import type { Metier, MetierOptions } from "@metier/runtime";
import type { GivenSkill, Skill, Trust } from "@metier/skills";
import type { EvalCase, InputFile } from "@metier/skills/formats";
import type { ArmName } from "./evaluation.ts";
import type { RecordingRequest } from "./evaluation-files.ts";

interface EvalRunOrder {
  readonly open: OpenMetier;
  readonly arm: Arm;
  readonly evalCase: EvalCase;
  /** Where its input files are: the skill under test, no matter which arm runs. */
  readonly skillDirectory: string;
  /** A folder for this run alone. */
  readonly folder: string;
  readonly request: Pick<RunRequest, "approve" | "caller" | "limits" | "signal"> & RecordingRequest;
  onEvent(event: RunEvent): void;
}

export interface EvalRun {
  readonly workspace?: Workspace | undefined;
  /** The answer, even of a run that ended badly. */
  readonly answer: string;
  /** The files it made or changed. */
  readonly files: RunResult["files"];
  readonly model: string;
  readonly tokens: number;
  /** Absent if no price is known. */
  readonly cost?: number | undefined;
  readonly durationMs: number;
  readonly toolCalls: Readonly<Record<string, number>>;
  readonly denied: RunResult["denied"];
  /** Why there is nothing to grade. */
  readonly fault?: string | undefined;
  /** It was ended from outside, so it says nothing about the skill. */
  readonly isStopped: boolean;
}

export async function runEval(order: EvalRunOrder): Promise<EvalRun> {
  const { open, arm, evalCase, skillDirectory, folder, request } = order;
  const made = makeWorkspace(join(folder, "workspace"), skillDirectory, evalCase.files);
  if (!made.ok) return { ...NOTHING, fault: made.refusal };
  const workspace = made.value;
  const metier = await openArm(open, arm, workspace.folder);
  const toolCalls: Record<string, number> = {};
  try {
    const { inputs } = workspace;
    const result = await metier.run({
      ...request,
      skill: arm.skill,
      message: evalCase.prompt,
      source: "code",
      workDir: workspace.folder,
      ...(inputs.length > 0 && {
        context: `Files for the task are in the working directory: ${inputs.join(", ")}. Files that you make belong there, too.`,
      }),
      onEvent(event) {
        if (event.type === "tool-called") toolCalls[event.tool] = (toolCalls[event.tool] ?? 0) + 1;
        order.onEvent(event);
      },
    });
    return {
      workspace,
      answer: result.text,
      files: workspace.changed(result.files),
      model: result.model,
      tokens: result.usage.totalTokens,
      cost: result.cost,
      durationMs: result.durationMs,
      toolCalls,
      denied: result.denied,
      isStopped: result.status === "cancelled",
      fault: describeFault(result),
    };
  } finally {
    await metier.capabilities.close();
  }
}

const NOTHING: EvalRun = {
  answer: "",
  files: [],
  model: "",
  tokens: 0,
  durationMs: 0,
  toolCalls: {},
  denied: [],
  isStopped: false,
};

/** Hitting a limit is the skill's own doing: what it had by then is graded. */
function describeFault({ status, refusal, error }: RunResult): string | undefined {
  if (refusal) return `The run was refused: ${refusalText(refusal)}`;
  return status === "failed" ? `The run failed: ${error?.message ?? "no reason was given"}` : undefined;
}

/**
 * One arm. Without a skill, the same run machinery uses a skill that says only "do the task", with the trust of the
 * one under test, so that both see the same.
 */
export interface Arm {
  readonly name: ArmName;
  /** The name of the skill that is run. */
  readonly skill: string;
  readonly directory: string;
  readonly trust: Trust;
  /** What its manifest asks for. */
  readonly model?: string | undefined;
}

/** Opens a `Metier` over the same home and config each time, with these options added. */
export type OpenMetier = (options: MetierOptions) => Promise<Metier>;

const BARE_SKILL = "task";
const BARE_TEXT = `---
name: ${BARE_SKILL}
description: Carries out a task without a skill.
---

Carry out the task you are given, with the tools you have.
`;

export function skillArm(name: ArmName, { name: skill, directory, trust, manifest }: Skill): Arm {
  return { name, skill, directory, trust: trust.level, model: manifest.model };
}

/** Its folder is created in `folder`. */
export function bareArm(folder: string, trust: Trust): Arm {
  const directory = join(folder, BARE_SKILL);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "SKILL.md"), BARE_TEXT);
  return { name: "without_skill", skill: BARE_SKILL, directory, trust };
}

/** A `Metier` in which the arm's skill is the only one, and works in `workspace`. */
export async function openArm(open: OpenMetier, arm: Arm, workspace: string): Promise<Metier> {
  const metier = await open({
    cwd: workspace,
    bundled: false,
    index: false,
    config: {
      skills: {
        "auto-discover": false,
        paths: [arm.directory],
        "trusted-paths": arm.trust === "trusted" ? [arm.directory] : [],
        allow: [arm.skill],
      },
    },
  });
  const found = metier.get(arm.skill);
  if (found && realPathOr(found.directory) === realPathOr(arm.directory)) return metier;
  throw new MetierError(
    "skill.error",
    `The skill \`${arm.skill}\` can't be used from \`${arm.directory}\`.`,
    { hint: "Run `metier doctor` with its folder to see why." },
  );
}

/** A `Metier` with only these skills. */
export function openGiven(open: OpenMetier, cwd: string, skills: readonly GivenSkill[]): Promise<Metier> {
  const allow = skills.map(({ name }) => name);
  return open({
    cwd,
    bundled: false,
    index: false,
    integrations: skills,
    config: { skills: { "auto-discover": false, paths: [], allow } },
  });
}

/** A folder that exists while the work lasts. */
export async function inTemporaryFolder<Value>(
  prefix: string,
  work: (folder: string) => Promise<Value>,
): Promise<Value> {
  const folder = realPathOr(mkdtempSync(join(tmpdir(), prefix)));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const MOST_INPUTS = 1000;

/** The folder of one run: new, with the eval's files in it; afterwards, with what the run made. */
interface Workspace {
  readonly folder: string;
  /** Paths of the input files. */
  readonly inputs: readonly string[];
  /** The files a run made or changed, among those that exist afterwards. */
  changed(files: RunResult["files"]): RunResult["files"];
}

/** Creates `folder` and copies files of the skill into it. */
function makeWorkspace(
  folder: string,
  skillDirectory: string,
  files: readonly InputFile[],
): Result<Workspace, string> {
  mkdirSync(folder, { recursive: true });
  const real = realPathOr(skillDirectory);
  const before = new Map<string, string>();
  for (const { source, target } of files.flatMap((file) => expandFolder(real, file))) {
    const fault = withContained(openContained(real, source), ({ realPath }) => {
      const copy = join(folder, target);
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(realPath, copy);
      before.set(target, digestOf(copy));
    });
    if (fault) return refused(`Can't copy an input file: ${fault.message}`);
  }
  const changed: Workspace["changed"] = (left) =>
    left.filter(({ path }) => !before.has(path) || before.get(path) !== digestOf(join(folder, path)));
  return done({ folder, inputs: [...before.keys()], changed });
}

/** A folder stands for everything in it. */
function expandFolder(real: string, { source, target }: InputFile): readonly InputFile[] {
  const folder = join(real, source);
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [{ source, target }];
  const listing = listFiles(folder, MOST_INPUTS);
  if (!listing.ok) return [{ source, target }]; // It can't be opened as a file, which is reported.
  return listing.files.map(({ path }) => ({ source: `${source}/${path}`, target: `${target}/${path}` }));
}

/** A copy for a check that may change things: folders and regular files, no links. */
export function copyWorkspace(folder: string, target: string): void {
  const filter = (path: string): boolean => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats !== undefined && (stats.isDirectory() || stats.isFile());
  };
  cpSync(folder, target, { recursive: true, filter });
}

/** A file that a run left, by a path from the eval. */
export function readWorkspaceFile(
  folder: string,
  path: string,
  mostBytes: number,
): Result<{ readonly text: string; readonly isCut: boolean }, string> {
  const read = withContained(openContained(realPathOr(folder), path), ({ descriptor, stats }) => {
    const bytes = Buffer.alloc(Math.min(Number(stats.size), mostBytes));
    const length = readSync(descriptor, bytes, 0, bytes.length, 0);
    return { text: bytes.toString("utf8", 0, length), isCut: stats.size > BigInt(mostBytes) };
  });
  return "message" in read ? refused(read.message) : done(read);
}

function digestOf(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
