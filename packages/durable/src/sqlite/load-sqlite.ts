/** Loads `node:sqlite` only when the first database is opened, without the warning that Node 22 prints. */
import { done, type Result, refused } from "@metier/base/result";

type Sqlite = typeof import("node:sqlite");

/** Refused if this Node has no SQLite. */
export function loadSqlite(): Result<Sqlite> {
  const loaded = hideExperimentalWarning(() => process.getBuiltinModule("node:sqlite"));
  // The types can't know that a Node that is too old returns nothing.
  if ((loaded as Sqlite | undefined) !== undefined) return done(loaded);
  return refused({
    message: `Durable runs need SQLite, which Node ${process.versions.node} does not have.`,
    hint: "Use Node 22.18 or newer.",
  });
}

/** Loading is synchronous, so no other warning can come in between; if one did, it would be passed on. */
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
