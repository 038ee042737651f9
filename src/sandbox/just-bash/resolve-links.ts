/** Where a path leads once its links are followed. Knows names only; what is a link, others say. */
import { resolve } from "node:path";
import { fileFault } from "./file-fault.ts";

const MAX_LINKS = 40;

export interface LinkSource {
  /** From where on links are looked for: a folder above the path, without any. */
  readonly start: string;
  /** Leaves the last name as it is. */
  readonly keepLast: boolean;
  /** What a link says; nothing where there is none. */
  linkAt(path: string): Promise<string | undefined>;
}

export async function resolveLinks(path: string, { start, keepLast, linkAt }: LinkSource): Promise<string> {
  let current = start;
  let left = namesOf(path.slice(start.length));
  let links = 0;
  while (left.length > 0) {
    const [name = "", ...rest] = left;
    const next = resolve(current, name);
    const target = keepLast && rest.length === 0 ? undefined : await linkAt(next);
    if (target === undefined) {
      current = next;
      left = rest;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw fileFault("ELOOP", path);
    if (target.startsWith("/")) current = "/";
    left = [...namesOf(target), ...rest];
  }
  return current;
}

function namesOf(path: string): readonly string[] {
  return path.split("/").filter(Boolean);
}
