/** Which test files change what all files of a worker share: they get a worker of their own. */
import { filesUnder, readRepositoryFile, TESTS } from "./repository.ts";

const CHANGES_THE_PROCESS = [
  /\bvi\.(?:mock|doMock|hoisted|resetModules)\(/, // its modules
  /\bsyncBuiltinESMExports\(/, // the modules of Node
  /\bvi\.(?:useFakeTimers|setSystemTime)\(/, // its clock
  /\bvi\.(?:stubEnv|stubGlobal)\(/, // its environment and globals
  /\bprocess\.env(?:\.\w+|\[[^\]]+\])\s*=[^=]|\bdelete process\.env\b/,
  /\bglobalThis\.\w+\s*=[^=>]/,
];

/** By their paths in the repository. A change inside a program's text that a test starts counts, too: better once too often. */
export function findFilesThatChangeTheProcess(): readonly string[] {
  return filesUnder([...TESTS, "examples"], [".test.ts"]).filter((path) => {
    const text = readRepositoryFile(path);
    return CHANGES_THE_PROCESS.some((change) => change.test(text));
  });
}
