/** What is exported is used, and one name means one thing. */
import { expect, test } from "vitest";
import { allFiles, DOORS, declaredIn, importsOf, packageOf, sourceFiles } from "../support/modules.ts";

const imports = allFiles().flatMap(importsOf);
const doorFiles = new Set(DOORS.map(({ file }) => file));

/** `file#name` of all that anyone takes; `file#*` where the names cannot be told. */
const taken = new Set(
  imports.flatMap(({ to, names }) =>
    to === undefined ? [] : (names.length > 0 ? names : ["*"]).map((name) => `${to}#${name}`),
  ),
);

function isTaken(file: string, name: string): boolean {
  return taken.has(`${file}#${name}`) || taken.has(`${file}#*`);
}

test("every export of a file is used by another file", () => {
  // The last one is what a toolset imports, `metier/toolset`: its types are for users.
  const unused = sourceFiles()
    .filter((file) => packageOf(file) !== "metier" && !file.endsWith("/inside/define-toolset.ts"))
    .flatMap((file) =>
      declaredIn(file)
        .filter((name) => !isTaken(file, name))
        .map((name) => `${file}: ${name}`),
    );
  expect(unused).toEqual([]);
});

test("every name at a door is used outside of its package", () => {
  const outside = new Set(
    imports
      .filter(({ from, to }) => to !== undefined && packageOf(from) !== packageOf(to))
      .flatMap(({ to, names }) => (names.length > 0 ? names : ["*"]).map((name) => `${to}#${name}`)),
  );
  const unused = imports
    .filter(({ from, passesOn }) => passesOn && doorFiles.has(from))
    .flatMap(({ from, names }) => names.map((name) => ({ from, name })))
    .filter(({ from, name }) => !outside.has(`${from}#${name}`) && !outside.has(`${from}#*`))
    .map(({ from, name }) => `${from}: ${name}`);
  expect(unused).toEqual([]);
});

test("no exported name is defined in two packages", () => {
  const homes = new Map<string, Set<string>>();
  for (const file of sourceFiles()) {
    for (const name of declaredIn(file)) {
      homes.set(name, (homes.get(name) ?? new Set()).add(packageOf(file) ?? ""));
    }
  }
  const twice = [...homes].filter(([, packages]) => packages.size > 1);
  expect(twice.map(([name, packages]) => `${name}: ${[...packages].join(", ")}`)).toEqual([]);
});
