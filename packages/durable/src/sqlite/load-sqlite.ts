/** `node:sqlite`, loaded when the first database is opened and by nothing else, without the warning that Node 22 prints. */
import { done, type Result, refused } from "@metier/base/result";

type Sqlite = typeof import("node:sqlite");

/** Refused by a Node that has none. */
export function loadSqlite(): Result<Sqlite> {
  const loaded = hideExperimentalWarning(() => process.getBuiltinModule("node:sqlite"));
  // What the types cannot know: a Node that is too old gives nothing.
  if ((loaded as Sqlite | undefined) !== undefined) return done(loaded);
  return refused({
    message: `Durable runs keep their journal in SQLite, which Node ${process.versions.node} does not have.`,
    hint: "Use Node 22.18 or newer.",
  });
}

/** Loading is synchronous, so no other warning can come in between; one that did would be passed on. */
function hideExperimentalWarning<Value>(load: () => Value): Value {
  const emit = process.emitWarning;
  const pass = emit.bind(process) as (warning: string | Error, ...rest: unknown[]) => void;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    const isIt = String(warning).startsWith("SQLite is an experimental feature");
    if (!isIt) pass(warning, ...rest);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emit;
  }
}
