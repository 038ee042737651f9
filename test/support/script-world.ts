/** Skills of the user that have scripts. */
import { createRunWorld } from "./scripted-runs.ts";
import type { World } from "./world.ts";

type Texts = Readonly<Record<string, string>>;

/** `{ name: { "a.sh": "…" } }`, all trusted; `frontmatter` has further lines for some of them. */
export function createScriptWorld(skills: Readonly<Record<string, Texts>>, frontmatter: Texts = {}): World {
  const names = Object.keys(skills);
  const world = createRunWorld(
    Object.fromEntries(names.map((name) => [name, [frontmatter[name] ?? ""] as const])),
  );
  for (const [name, files] of Object.entries(skills)) {
    const placed = Object.entries(files).map(([path, text]) => [`home/.metier/skills/${name}/${path}`, text]);
    world.write(Object.fromEntries(placed));
  }
  return world;
}
