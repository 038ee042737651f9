/**
 * Rewrites imports of a package's door to the files behind it. esbuild splits a bundle by file, and loading a door
 * ties everything behind it together, so the bundle is made as if every import named its file. Types are left out.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../setup/repository.mjs";

const COMMENT = /\/\*.*?\*\//gs;
const STATEMENT = /^(import|export) (type )?\{([^}]*)\} from "(@metier\/[^"]+)";$/gm;
const ON_DEMAND = /const \{([^}]*)\} =\s+await import\("(@metier\/[^"]+)"\)/g;
const WHOLE_ON_DEMAND = /\(await import\("(@metier\/[^"]+)"\)\)\.(\w+)/g;

/** @type {Map<string, { file: string, names: Map<string, string> }>} a door's own file, and where its names come from */
const doors = new Map();

/** @param {string} code of a file in `packages` @returns {string} */
export function openDoors(code) {
  return code
    .replace(STATEMENT, (_all, /** @type {string} */ verb, type = "", /** @type {string} */ list, door) =>
      groupByFile(door, list.replace(COMMENT, ""))
        .filter(([, names]) => !type && names.some((name) => !name.startsWith("type ")))
        .map(([file, names]) => `${verb} { ${names.join(", ")} } from ${JSON.stringify(file)};`)
        .join(" "),
    )
    .replace(ON_DEMAND, (_all, /** @type {string} */ list, /** @type {string} */ door) => {
      const parts = groupByFile(door, list).map(
        ([file, names]) => `{ ${names.join(", ")} } = await import(${JSON.stringify(file)})`,
      );
      return `const ${parts.join(", ")}`;
    })
    .replace(WHOLE_ON_DEMAND, (all, /** @type {string} */ door, /** @type {string} */ name) =>
      all.replace(JSON.stringify(door), JSON.stringify(fileOf(door, name))),
    );
}

/**
 * Groups the names in braces by the file behind the door that each comes from.
 *
 * @param {string} door @param {string} list @returns {readonly [file: string, names: readonly string[]][]}
 */
export function groupByFile(door, list) {
  /** @type {Map<string, string[]>} `Map.groupBy` is not in Node 20, which `npm run build` may run on. */
  const groups = new Map();
  for (const name of namesIn(list)) {
    const file = fileOf(door, name);
    groups.set(file, [...(groups.get(file) ?? []), name]);
  }
  return [...groups];
}

/** @param {string} list @returns {readonly string[]} */
function namesIn(list) {
  return list.split(",").flatMap((name) => name.trim() || []);
}

/** @param {string} door @param {string} written `name`, `type Name` or `name as other` @returns {string} */
export function fileOf(door, written) {
  const { file, names } = readDoor(door);
  const [name = ""] = written
    .replace(COMMENT, "")
    .trim()
    .replace(/^type /, "")
    .split(/ as |: /);
  return names.get(name) ?? file;
}

/** @param {string} door */
function readDoor(door) {
  const known = doors.get(door);
  if (known) return known;
  const [, name = "", ...rest] = door.split("/");
  const folder = join(ROOT, "packages", name);
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = join(folder, exports[[".", ...rest].join("/")]);
  /** @type {Map<string, string>} */
  const names = new Map();
  for (const [, list = "", target = ""] of readFileSync(file, "utf8").matchAll(
    /^export (?:type )?\{([^}]*)\} from "(\.[^"]+)";$/gm,
  )) {
    for (const exported of namesIn(list)) {
      const [own = "", shown = own] = exported.replace(/^type /, "").split(" as ");
      if (own === shown) names.set(own, join(dirname(file), target));
    }
  }
  const read = { file, names };
  doors.set(door, read);
  return read;
}
