import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { takeBuiltinsLazily } from "../../../scripts/build/lazy-builtins.mjs";
import { temporaryFolder } from "../../support/temporary.ts";

const SOURCE = `import {
  basename,
  join as joinPath
} from "node:path";
import { createHash } from "node:crypto";
import os from "node:os";
import * as url from "node:url";
export const answers = [
  joinPath("a", basename("/b/c")),
  createHash("sha256").update("x").digest("hex").slice(0, 8),
  typeof os.homedir(),
  typeof url.fileURLToPath,
];
`;

test("a module does the same without importing Node's own modules", async () => {
  const code = takeBuiltinsLazily(SOURCE);
  expect(code).not.toMatch(/^import/m);
  const file = join(temporaryFolder(), "module.mjs");
  writeFileSync(file, code);
  const { answers } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { answers: unknown };
  expect(answers).toEqual(["a/c", "2d711642", "string", "function"]);
});

test("what is heavy is loaded when it is called", () => {
  expect(takeBuiltinsLazily('import { createHash as hash } from "node:crypto";')).toBe(
    'const hash = (...args) => process.getBuiltinModule("node:crypto").createHash(...args);',
  );
});

for (const [name, called] of Object.entries({
  "node:child_process": "spawn",
  "node:dns/promises": "lookup",
  "node:http": "request",
  "node:https": "request",
  "node:net": "createConnection",
  "node:timers/promises": "setTimeout",
  "node:zlib": "inflateSync",
})) {
  test(`${name} is loaded when it is called`, () => {
    const { [called]: there } = process.getBuiltinModule(name) as unknown as Record<string, unknown>;
    expect(there).toBeTypeOf("function");
    expect(takeBuiltinsLazily(`import { ${called} } from "${name}";`)).toBe(
      `const ${called} = (...args) => process.getBuiltinModule("${name}").${called}(...args);`,
    );
  });
}

test("what is constructed or read is there from the start, with all that is imported beside it", () => {
  expect(takeBuiltinsLazily('import { createServer, Socket as Peer } from "node:net";')).toBe(
    'const { createServer, Socket: Peer } = process.getBuiltinModule("node:net");',
  );
  expect(takeBuiltinsLazily('import { constants, inflateSync } from "node:zlib";')).toBe(
    'const { constants, inflateSync } = process.getBuiltinModule("node:zlib");',
  );
  expect(takeBuiltinsLazily('import * as net from "node:net";')).toBe(
    'const net = process.getBuiltinModule("node:net");',
  );
});

test("a class that is imported from a heavy module can be constructed and asked for", async () => {
  const file = join(temporaryFolder(), "module.mjs");
  const source = `import { BlockList, isIP } from "node:net";
export const answers = [new BlockList() instanceof BlockList, isIP("::1")];
`;
  writeFileSync(file, takeBuiltinsLazily(source));
  const { answers } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { answers: unknown };
  expect(answers).toEqual([true, 6]);
});

test("a CommonJS package in a bundle takes Node's own modules the same way", () => {
  expect(takeBuiltinsLazily('var fs = __require("fs"); var util = __require("node:util");')).toBe(
    'var fs = process.getBuiltinModule("node:fs"); var util = process.getBuiltinModule("node:util");',
  );
  expect(takeBuiltinsLazily('__require("./crc32")')).toBe('__require("./crc32")');
  expect(takeBuiltinsLazily('__require("yaml")')).toBe('__require("yaml")');
});

test("a module that imports `process` goes on with the global of that name", async () => {
  const file = join(temporaryFolder(), "module.mjs");
  const source = 'import process from "node:process";\nimport { sep } from "node:path";\n';
  writeFileSync(file, takeBuiltinsLazily(`${source}export const answers = [process.pid, sep];\n`));
  const { answers } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { answers: unknown };
  expect(answers).toEqual([process.pid, "/"]);
});

test("imports of other modules stay", () => {
  const code = 'import { a } from "./chunk.js";\nimport "./other.js";\nconst text = "import x from node:fs";';
  expect(takeBuiltinsLazily(code)).toBe(code);
});
