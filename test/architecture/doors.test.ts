/** Rooms have doors: a package's `exports` are the only way into it, and the arrows between packages point one way. */
import { expect, test } from "vitest";
import {
  allFiles,
  DOORS,
  type Import,
  importsOf,
  PACKAGES,
  packageFile,
  packageOf,
  sourceFiles,
} from "../support/modules.ts";
import { readRepositoryFile } from "../support/repository.ts";

/** Lowest first. A package imports from those before it. */
const ORDER: readonly string[] = [
  "base",
  "skills",
  "sandbox",
  "scan",
  "capabilities",
  "install",
  "durable",
  "run",
  "runtime",
  "evals",
  "service",
  "inspector",
  "cli",
  "metier",
];

const imports: readonly Import[] = allFiles().flatMap(importsOf);
const show = ({ from, specifier }: Import): string => `${from} -> ${specifier}`;

test("every package has a place in the order, and ARCHITECTURE.md states the same one", () => {
  expect(PACKAGES.toSorted()).toEqual(ORDER.toSorted());
  const [, order = ""] = /`(base <[^`]+)`/.exec(readRepositoryFile("ARCHITECTURE.md")) ?? [];
  expect(order.split("<").map((part) => part.trim())).toEqual(ORDER);
});

test("no import reaches past a door, in tests neither", () => {
  const past = imports.filter(({ from, specifier, to }) => {
    const target = to === undefined ? undefined : packageOf(to);
    return specifier.startsWith(".") && target !== undefined && target !== packageOf(from);
  });
  expect(past.map(show)).toEqual([]);
});

test("every door that is knocked at exists", () => {
  const doors = new Set(DOORS.map(({ specifier }) => specifier));
  const unknown = imports.filter(({ specifier }) => /^@metier\//.test(specifier) && !doors.has(specifier));
  expect(unknown.map(show)).toEqual([]);
});

/** The base serves everybody; of the stores, a program loads the one that it uses. */
const MORE_DOORS: Readonly<Record<string, number>> = { base: 12, durable: 5 };

test("a package has four doors at most, the base twelve, durable one for each store, and none is a wildcard", () => {
  const counts = PACKAGES.filter((name) => name !== "metier").map((name) => {
    const paths = Object.keys(packageFile(name).exports ?? {});
    return {
      name,
      isFine: paths.length <= (MORE_DOORS[name] ?? 4) && !paths.some((path) => path.includes("*")),
    };
  });
  expect(counts.filter(({ isFine }) => !isFine)).toEqual([]);
});

test("imports between packages point down", () => {
  const up = imports.filter(({ from, to }) => {
    const [own, other] = [packageOf(from), to === undefined ? undefined : packageOf(to)];
    return own !== undefined && other !== undefined && ORDER.indexOf(own) < ORDER.indexOf(other);
  });
  expect(up.map(show)).toEqual([]);
});

test("a package names what it imports, and imports what it names", () => {
  const wrong = PACKAGES.filter((name) => name !== "metier").flatMap((name) => {
    const used = new Set(
      imports
        .filter(
          ({ from, specifier }) =>
            from.startsWith(`packages/${name}/src/`) && !/^(?:\.|node:)/.test(specifier),
        )
        .map(({ specifier }) =>
          specifier
            .split("/")
            .slice(0, specifier.startsWith("@") ? 2 : 1)
            .join("/"),
        ),
    );
    const named = Object.keys(packageFile(name).dependencies ?? {});
    return [...new Set([...used, ...named])]
      .filter((other) => used.has(other) !== named.includes(other))
      .map((other) => `${name}: ${other}`);
  });
  expect(wrong).toEqual([]);
});

test("files do not import each other in a circle", () => {
  const next = new Map(
    sourceFiles().map((file) => [
      file,
      imports.flatMap(({ from, to, kind }) => (from === file && kind === "static" && to ? [to] : [])),
    ]),
  );
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" -> "));
    if (done.has(file) || path.includes(file)) return;
    for (const other of next.get(file) ?? []) visit(other, [...path, file]);
    done.add(file);
  };
  for (const file of next.keys()) visit(file, []);
  expect(circles).toEqual([]);
});
