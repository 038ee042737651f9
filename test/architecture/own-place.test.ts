/** Metier becomes a part of other people's bundles: there its own folder is not there, and bundlers rewrite what names it. */
import { expect, test } from "vitest";
import { filesUnder, readRepositoryFile } from "../support/repository.ts";

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*/g;
/** Files of these run in processes of their own, and are no part of a bundle. */
const OWN_PROCESS = /\/sandbox\/src\/sandbox\/(inside|just-bash\/shell\.ts)/;
const files = filesUnder(["packages"], [".ts"]).filter(
  (file) => /^packages\/\w+\/src\//.test(file) && !OWN_PROCESS.test(file),
);

test("[L2] no source asks `import.meta` or `__dirname` where it is: `ownFile` of `@metier/base/files` knows", () => {
  const wrong = files.filter((file) =>
    /\bimport\.meta\b|\b__(dir|file)name\b/.test(readRepositoryFile(file).replace(COMMENT, "")),
  );
  expect(wrong).toEqual([]);
});

test("[L2] what is imported by a path that is known at run time is left alone by bundlers", () => {
  const wrong = files.flatMap((file) =>
    [...readRepositoryFile(file).matchAll(/\bimport\(\s*(?!")([^)]*)/g)]
      .filter(([, inside = ""]) => /^\S/.test(inside) && /pathToFileURL|href/.test(inside))
      .filter(
        ([, inside = ""]) =>
          !["webpackIgnore: true", "turbopackIgnore: true", "@vite-ignore"].every((word) =>
            inside.includes(word),
          ),
      )
      .map(() => file),
  );
  expect(wrong).toEqual([]);
});
