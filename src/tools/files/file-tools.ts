/** The tools that read and write files. They see exactly the world that the run's commands see. */
import type { Tool } from "../tool.ts";
import { editFileTool } from "./edit-file.ts";
import { grepSearchTool } from "./grep-search.ts";
import { listFilesTool } from "./list-files.ts";
import { readFileTool } from "./read-file.ts";
import { writeFileTool } from "./write-file.ts";

export function fileTools(): readonly Tool[] {
  return [readFileTool(), writeFileTool(), editFileTool(), listFilesTool(), grepSearchTool()];
}
