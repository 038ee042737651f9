/**
 * An input edited by an approver. They saw it without the server's folders and secrets: a text they left unchanged is
 * the original one; a placeholder must not run as if it were the real value.
 */
import { isJsonObject, type Json } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { type HttpRefusal, refuseRequest } from "../http/refusal.ts";

/** As the redaction gate writes them. */
const REDACTION = /\[redacted(?::[\w.-]+)?\]|•{4}/g;
/** `~` for a home, `skill:name` for its folder, `cwd:` for that of the server; `.` is the work folder, where calls are made. */
const FOLDER = /(?<![\w.~/-])(?:~(?![\w-])|skill:[\w-]+|cwd:)/g;
const DEEPEST = 200;

/** `show`: how the approver saw a value. */
export function readEditedInput(
  edited: Json,
  original: Json,
  show: (value: Json) => Json,
): Result<Json, HttpRefusal> {
  const [asked, shown] = [JSON.stringify(original), JSON.stringify(show(original))];
  const marks = (text: string, pattern: RegExp): readonly string[] => text.match(pattern) ?? [];
  const standIns = marks(shown, FOLDER).filter((mark) => !marks(asked, FOLDER).includes(mark));
  const hidden = new Set([...marks(asked, REDACTION), ...standIns]);
  const restored = restore(edited, original, show, 0);
  const text = JSON.stringify(restored);
  const found = [...marks(text, REDACTION), ...marks(text, FOLDER)].find((mark) => hidden.has(mark));
  if (found === undefined) return done(restored);
  return refuseRequest(
    `The edited \`input\` contains \`${found}\`, a placeholder for a value that is not shown; the call would use that text literally.`,
    "Keep the placeholder where it was shown if it stands for a folder, remove it, approve the call unchanged, or deny it.",
  );
}

function restore(edited: Json, original: Json | undefined, show: (value: Json) => Json, depth: number): Json {
  if (depth > DEEPEST || original === undefined) return edited;
  if (typeof edited === "string" && typeof original === "string")
    return show(original) === edited ? original : edited;
  if (Array.isArray(edited) && Array.isArray(original))
    return edited.map((item, index) => restore(item, original[index], show, depth + 1));
  if (!isJsonObject(edited) || !isJsonObject(original)) return edited;
  const known = Object.keys(original);
  return Object.fromEntries(
    Object.entries(edited).map(([name, item]) => {
      const [key, ...others] = known.filter((other) => show(other) === name);
      if (key === undefined || others.length > 0) return [name, item];
      return [key, restore(item, original[key], show, depth + 1)];
    }),
  );
}
