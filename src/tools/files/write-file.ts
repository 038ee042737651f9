/** `write_file`: makes or replaces a whole file, where the run may write. */
import { writeFileInWorld } from "../../sandbox/world-path.ts";
import { answer, type Tool } from "../tool.ts";
import { explainFault } from "./explain-fault.ts";
import { printPath } from "./print-path.ts";

export function writeFileTool(): Tool {
  return {
    name: "write_file",
    description:
      "Makes a file, with the folders above it, or replaces its whole content. To change a part of a file use " +
      "`edit_file`.",
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, description: "The file." },
        content: { type: "string", description: "The whole new content." },
      },
      required: ["path", "content"],
      additionalProperties: false,
    },
    effect: "write",
    async execute(input, { world }) {
      const { path, content } = input as { readonly path: string; readonly content: string };
      const written = writeFileInWorld(world, path, content);
      if (!written.ok) return explainFault(world, path, written);
      return answer(`Wrote ${Buffer.byteLength(content)} bytes to \`${printPath(path)}\`.`);
    },
  };
}
