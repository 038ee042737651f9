/** A world of a run in temporary folders, and file tools called in it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { World } from "@metier/sandbox";
import { temporaryFolder, writeTree } from "../../../../../test/support/temporary.ts";
import { toolContext } from "../../../../../test/support/tool-context.ts";
import { fileTools } from "../../../src/tools/files/file-tools.ts";
import type { ToolInput, ToolOutput } from "../../../src/tools/tool.ts";

export interface SmallWorld {
  /** Holds everything, also what the run does not see. */
  readonly root: string;
  /** Where tools start; writable, except `protected`. */
  readonly project: string;
  readonly world: World;
  write(files: Readonly<Record<string, string | Buffer>>): void;
  call(tool: string, input: ToolInput, signal?: AbortSignal): Promise<ToolOutput>;
  /** As `call`, and the text of an answer that is no error. */
  text(tool: string, input: ToolInput): Promise<string>;
}

/** `files` are written below `project`. */
export function smallWorld(files: Readonly<Record<string, string | Buffer>> = {}): SmallWorld {
  const root = temporaryFolder();
  const [project, workDir, skillDir] = [join(root, "project"), join(root, "work"), join(root, "skill")];
  for (const folder of [project, workDir, skillDir]) mkdirSync(folder);
  const world: World = {
    cwd: project,
    workDir,
    skillDir,
    readable: [project, workDir, skillDir],
    writable: [project, workDir],
    masked: [join(project, "masked")],
    protectedPaths: [join(project, "protected")],
  };
  writeTree(project, files);
  const call: SmallWorld["call"] = async (name, input, signal = new AbortController().signal) => {
    const tool = fileTools().find((candidate) => candidate.name === name);
    if (tool === undefined) throw new Error(`There is no tool \`${name}\`.`);
    return tool.execute(input, toolContext({ world, signal }));
  };
  return {
    root,
    project,
    world,
    write: (more) => writeTree(project, more),
    call,
    async text(name, input) {
      const output = await call(name, input);
      if (output.isError) throw new Error(output.text);
      return output.text;
    },
  };
}
