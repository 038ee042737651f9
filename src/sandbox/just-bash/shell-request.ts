/** What the process of the interpreted shell is told, as JSON on descriptor 3: its world and command, and nothing else of ours. */
import type { World } from "../world.ts";

export interface ShellRequest {
  readonly argv: readonly string[];
  readonly world: World;
  readonly cwd: string;
  /** The whole environment of the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly maxFileBytes?: number;
  /** Of both streams together, kept or dropped. */
  readonly maxOutputBytes: number;
  /** Added once where a program was not found. */
  readonly noPrograms: string;
}

export const REQUEST_DESCRIPTOR = 3;
