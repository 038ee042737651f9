/** A permanent yes: a line under `[tools]` in the user's config, as a person would write it. */
import { ConfigError } from "@metier/base/errors";
import { done, type Result, refused } from "@metier/base/result";
import { setConfigValue } from "./edit-config.ts";

/** As written in the file. */
export function ruleLine(pattern: string): string {
  return `${JSON.stringify(pattern)} = "allow"`;
}

/** Allows calls that these patterns cover from now on. Refused if the file cannot be changed. */
export async function allowForGood(file: string, patterns: readonly string[]): Promise<Result<undefined>> {
  try {
    for (const pattern of patterns) {
      await setConfigValue({ file, target: "user", path: ["tools", pattern], value: "allow" });
    }
    return done(undefined);
  } catch (fault) {
    if (!(fault instanceof ConfigError)) throw fault;
    return refused({ message: fault.message, hint: fault.hint });
  }
}
