/** The parts that several forms of address share: references, paths inside a source, and `#ref:path` at the end. */
import { checkContainedPath, showPath } from "../../host/contained-path.ts";
import { type RefusedAddress, refuseAddress } from "./address-outcome.ts";

export interface InnerParts {
  readonly ref?: string;
  readonly path: string;
}

type Checked<Value> = { readonly ok: true; readonly value: Value } | RefusedAddress;

const MAX_REF_LENGTH = 250;
const REF_HINT =
  "A reference is a branch, a tag or a full commit id, as `main`, `v1.2.0` or `feature/search`.";
/** What git itself allows in no name of a branch or tag (`git check-ref-format`). */
const NOT_IN_REFS: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/^-/, "begins with `-`, as options do"],
  [/\s/, "has a blank"],
  [/[\x00-\x1f\x7f~^:?*[\\]/, "has one of the characters `~ ^ : ? * [ \\`"],
  [/\.\.|@\{/, "has `..` or `@{`"],
  [/^\/|\/$|\/\//, "has an empty segment"],
  [/(?:^|\/)\.|\.$|\.lock(?:\/|$)/, "has a segment that begins with `.`, or ends in `.` or `.lock`"],
  [/^@?$/, "is empty"],
];

export function checkRef(ref: string): RefusedAddress | undefined {
  if (ref.length > MAX_REF_LENGTH) {
    return refuseAddress(
      `The reference has ${ref.length} characters; ${MAX_REF_LENGTH} are allowed.`,
      REF_HINT,
    );
  }
  const wrong = NOT_IN_REFS.find(([pattern]) => pattern.test(ref))?.[1];
  return wrong === undefined
    ? undefined
    : refuseAddress(`The reference ${showPath(ref)} ${wrong}.`, REF_HINT);
}

/** `""` for the root; otherwise without `.` segments and without `/` at the end. */
export function readInnerPath(text: string): Checked<string> {
  const trimmed = text.replace(/\/+$/, "");
  if (trimmed === "" || trimmed === ".") return { ok: true, value: "" };
  const checked = checkContainedPath(trimmed);
  if (checked.ok) return { ok: true, value: checked.path };
  const message = checked.message.charAt(0).toUpperCase() + checked.message.slice(1);
  return refuseAddress(message, "Write the path from the root of the source down, as `skills/pdf`.");
}

/** A reference alone. */
export function readRef(ref: string): Checked<InnerParts> {
  return checkRef(ref) ?? { ok: true, value: { ref, path: "" } };
}

/** `ref`, `ref:path` or `:path`. */
export function readFragment(fragment: string): Checked<InnerParts> {
  const colon = fragment.indexOf(":");
  const ref = colon === -1 ? fragment : fragment.slice(0, colon);
  const path = readInnerPath(colon === -1 ? "" : fragment.slice(colon + 1));
  if (!path.ok) return path;
  if (ref === "") return { ok: true, value: { path: path.value } };
  return checkRef(ref) ?? { ok: true, value: { ref, path: path.value } };
}

export function writeFragment({ ref = "", path }: InnerParts): string {
  if (path !== "") return `#${ref}:${path}`;
  return ref === "" ? "" : `#${ref}`;
}

/** The text before the first `#`, and the one after it. */
export function splitFragment(text: string): readonly [base: string, fragment: string] {
  const hash = text.indexOf("#");
  return hash === -1 ? [text, ""] : [text.slice(0, hash), text.slice(hash + 1)];
}

const ARCHIVE = /\.(?:tar\.gz|tgz|tar|zip)$/i;
const MARKDOWN = /\.md$/i;

/** What a file of this name is to an installer. */
export function kindOfFile(name: string): "archive" | "file" | undefined {
  if (ARCHIVE.test(name)) return "archive";
  return MARKDOWN.test(name) ? "file" : undefined;
}
