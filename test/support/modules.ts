/** The sources as a graph, for the gates: what each file imports and exports. Read as text, in the form that lint keeps. */
import { readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { filesUnder, ROOT, readRepositoryFile, SOURCES, TESTS } from "./repository.ts";

export interface Import {
  readonly from: string;
  /** As written. */
  readonly specifier: string;
  /** The file it leads to, below the root; `undefined` for what is not ours. */
  readonly to: string | undefined;
  /** As the other file calls them; empty for an import on demand that takes the whole. */
  readonly names: readonly string[];
  readonly kind: "static" | "type" | "on-demand";
  /** `export … from`. */
  readonly passesOn: boolean;
}

export interface Door {
  readonly package: string;
  /** `@metier/skills/trust` */
  readonly specifier: string;
  readonly file: string;
}

const COMMENT = /^\s*\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
const STATEMENT =
  /^(import|export) (type )?(?:\{([^}]*)\}|\* as \w+|\w+)?(?:,? ?\{([^}]*)\})?(?: from )?"([^"]+)"/gm;
const ON_DEMAND =
  /(?:const \{([^}]*)\} = await )?\bimport\(\s*"([^"]+)",?\s*\)?(?:\)\.(\w+)|,\s+action: "(\w+)")?/g;
const TYPE_REFERENCE = /\bimport\("([^"]+)"\)\.(\w+)/g;
const DECLARED =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|class|const|let|interface|type) (\w+)/gm;
const DECLARED_LIST = /^export const [[{]([^=]*)[\]}] =/gm;

export const PACKAGES: readonly string[] = readdirSync(join(ROOT, "packages"));

interface PackageFile {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export function packageFile(name: string): PackageFile {
  return JSON.parse(readRepositoryFile(`packages/${name}/package.json`)) as PackageFile;
}

/** Of the packages inside; what `packages/metier` exports is for users. */
export const DOORS: readonly Door[] = PACKAGES.filter((name) => name !== "metier").flatMap((name) =>
  Object.entries(packageFile(name).exports ?? {}).map(([path, file]) => ({
    package: name,
    specifier: `@metier/${name}${path.slice(1)}`,
    file: join("packages", name, String(file)),
  })),
);

const DOOR_FILES = new Map(DOORS.map(({ specifier, file }) => [specifier, file]));

/** The package of a source or test; `undefined` for what crosses packages. */
export function packageOf(path: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(path)?.[1];
}

export function sourceFiles(): readonly string[] {
  return filesUnder(SOURCES, [".ts", ".tsx"]);
}

/** Sources, tests, and the scripts that use them. */
export function allFiles(): readonly string[] {
  return filesUnder([...SOURCES, ...TESTS, "scripts", "bench", "examples"], [".ts", ".tsx", ".mjs"]);
}

export function importsOf(from: string): readonly Import[] {
  const text = readRepositoryFile(from).replace(COMMENT, "");
  const statements = [...text.matchAll(STATEMENT)].map(
    ([, verb, type, list = "", second = "", specifier = ""]) => {
      const names = namesIn(`${list},${second}`);
      const isType =
        type !== undefined || (names.length > 0 && names.every((name) => name.startsWith("type ")));
      return makeImport(from, specifier, names, isType ? "type" : "static", verb === "export");
    },
  );
  const onDemand = [...text.matchAll(ON_DEMAND)].map(
    ([, list = "", specifier = "", member = "", action = ""]) =>
      makeImport(from, specifier, namesIn(`${list},${member},${action}`), "on-demand"),
  );
  const references = [...text.matchAll(TYPE_REFERENCE)].map(([, specifier = "", name = ""]) =>
    makeImport(from, specifier, [name], "type"),
  );
  return [...statements, ...onDemand, ...references];
}

function makeImport(
  from: string,
  specifier: string,
  names: readonly string[],
  kind: Import["kind"],
  passesOn = false,
): Import {
  const to = specifier.startsWith(".")
    ? normalize(join(dirname(from), specifier))
    : DOOR_FILES.get(specifier);
  const own = names.map((name) => name.replace(/^type /, "").split(/ as |: /)[0] ?? "");
  return { from, specifier, to, names: own, kind, passesOn };
}

function namesIn(list: string): readonly string[] {
  return list.split(",").flatMap((name) => name.trim() || []);
}

/** What a file itself declares and exports. */
export function declaredIn(file: string): readonly string[] {
  const text = readRepositoryFile(file).replace(COMMENT, "");
  const lists = [...text.matchAll(DECLARED_LIST)].flatMap(([, list = ""]) =>
    namesIn(list).map((name) => name.split(": ").at(-1) ?? ""),
  );
  return [...[...text.matchAll(DECLARED)].map(([, name = ""]) => name), ...lists];
}
