/** Why a path was refused, with what to do next: near names for what is missing, the other tool for a folder. */
import { basename, dirname } from "node:path";
import { nearestNames } from "../../foundation/nearest-names.ts";
import type { ContainedFault } from "../../host/open-contained.ts";
import type { World } from "../../sandbox/world.ts";
import { listFolder } from "../../sandbox/world-path.ts";
import { fault, type ToolOutput } from "../tool.ts";
import { printPath } from "./print-path.ts";

export function explainFault(world: World, path: string, refused: ContainedFault): ToolOutput {
  const hint = hintFor(world, path, refused);
  return fault(hint === "" ? refused.message : `${refused.message} ${hint}`);
}

function hintFor(world: World, path: string, { reason }: ContainedFault): string {
  if (reason === "missing") return suggestNames(world, path);
  if (reason === "not-a-file" && listFolder(world, path).ok) return "It is a folder: use `list_files`.";
  return "";
}

/** Only names that the run sees. */
function suggestNames(world: World, path: string): string {
  const listed = listFolder(world, dirname(path));
  const near = listed.ok
    ? nearestNames(
        basename(path),
        listed.entries.map(({ name }) => name),
      )
    : [];
  if (near.length === 0) return "Use `list_files` to see what there is.";
  return `Did you mean ${near.map((name) => `\`${printPath(name)}\``).join(" or ")}?`;
}
