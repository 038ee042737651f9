/**
 * What a client requires of a skill's keys: which it knows, and the form of their values. A wrong form can lose the
 * skill.
 */
import { isJsonObject, type Json } from "@metier/base/json";
import {
  type Effect,
  isPlainSkillName,
  isSkillName,
  MAX_COMPATIBILITY_LENGTH,
  MAX_NAME_LENGTH,
  type NameGrammar,
  type Way,
} from "@metier/skills";
import {
  breaks,
  type CompatClient,
  type CompatSubject,
  hasWay,
  isHonoured,
  note,
  type Remark,
  remark,
} from "./check-file.ts";

export function checkFields({ fields }: CompatSubject, client: CompatClient): readonly Remark[] {
  if (!client.reading.refusesOtherKeys) return [];
  return Object.keys(fields)
    .filter((key) => !isHonoured(client, key))
    .map((key) => breaks(key, "This client does not know the key, and refuses a file with unknown keys."));
}

const GRAMMARS: Readonly<
  Record<NameGrammar, { readonly holds: (name: string) => boolean; readonly words: string }>
> = {
  specification: { holds: isSkillName, words: "lowercase letters, digits and single hyphens, at most 64" },
  plain: {
    holds: (name) => isPlainSkillName(name) && name.length <= MAX_NAME_LENGTH,
    words: "a–z, 0–9 and single hyphens, at most 64",
  },
  "file-name": {
    holds: (name) => !/[:\\/<>*?"|]/.test(name),
    words: 'anything but `: \\ / < > * ? " |`, which become hyphens',
  },
  words: {
    holds: (name) => /^[\p{L}\p{N}_:.-]+$/u.test(name),
    words: "letters, digits, `_`, `:`, `.` and `-`",
  },
  hyphens: {
    holds: (name) => /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(name) && name.length <= MAX_NAME_LENGTH,
    words: "a–z, 0–9 and hyphens, at most 64",
  },
};

export function checkName(
  { candidate, fields }: CompatSubject,
  { reading: { name: rule } }: CompatClient,
): readonly Remark[] {
  if (rule === undefined) return [];
  const { name: written = null } = fields;
  if (written === null || written === "") {
    return rule.required ? [breaks("name", "`name` is missing, and this client requires it.")] : [];
  }
  const remarks: Remark[] = [];
  const add = (effect: Effect, message: string): void => {
    remarks.push(remark(effect, "name", message));
  };
  if (typeof written !== "string" && rule.text)
    add("breaks", "It is not a string; this client needs quotes around it.");
  const name = String(written);
  const [grammar, effect = "note"] = rule.grammar ?? [];
  if (grammar && !GRAMMARS[grammar].holds(name))
    add(effect, `In this client a name consists of ${GRAMMARS[grammar].words}.`);
  const isFolder = name.normalize("NFKC") === candidate.defaultName.normalize("NFKC");
  if (rule.folder && candidate.form === "directory" && !isFolder) {
    add(
      rule.folder,
      `It is not the folder's name, \`${candidate.defaultName}\`, which this client requires.`,
    );
  }
  if (rule.longest && [...name].length > MAX_NAME_LENGTH)
    add(rule.longest.effect, `${rule.longest.words}: the limit is ${MAX_NAME_LENGTH} characters.`);
  if (rule.reserved && /anthropic|claude/i.test(name))
    add("breaks", "This client reserves `anthropic` and `claude`.");
  return remarks;
}

const TAG = /<\/?[a-z][^<>]{0,200}>/i;

export function checkDescription({ fields }: CompatSubject, client: CompatClient): readonly Remark[] {
  const { id, reading } = client;
  const { missing, instead = "this client requires it", text, longest, noTags } = reading.description;
  const { description: written = null, when_to_use: when } = fields;
  if (written === null || (typeof written === "string" && written.trim() === "")) {
    return [remark(missing, "description", `\`description\` is missing: ${instead}.`)];
  }
  if (typeof written !== "string") {
    const wrong = "It is not a string; this client needs quotes around it, or a separate line.";
    return text ? [breaks("description", wrong)] : [];
  }
  const remarks: Remark[] = [];
  const behind = id === "claude-code" && typeof when === "string" ? [...when].length + 1 : 0;
  const length = [...written].length + behind;
  if (longest && length > longest.characters) {
    const { effect, words, characters } = longest;
    const message = `${words}: it has ${length} characters; the limit is ${characters}.`;
    remarks.push(remark(effect, "description", message));
  }
  if (noTags && TAG.test(written))
    remarks.push(breaks("description", "It contains a tag such as `<…>`, which this client refuses."));
  return remarks;
}

const isList = (value: Json): boolean => Array.isArray(value);
const isNoList = (value: Json): boolean => !isList(value);
const isText = (value: Json): boolean => typeof value === "string";
const isNoText = (value: Json): boolean => !isText(value);
const isNested = (value: Json): boolean => typeof value === "object" && value !== null;
const NO_TEXT = "It is not a string, and nothing else is accepted.";
const NO_LIST = "It is not a list, and nothing else is accepted.";

const VALUE_FACTS: readonly {
  readonly way: Way;
  readonly key: string;
  /** Whether the value, which is not null, has an unaccepted form. */
  readonly isWrong: (value: Json) => boolean;
  readonly effect: Effect;
  readonly message: string;
}[] = [
  { way: "holds-compatibility", key: "compatibility", isWrong: isNoText, effect: "breaks", message: NO_TEXT },
  {
    way: "holds-compatibility",
    key: "compatibility",
    isWrong: (value) => typeof value === "string" && [...value].length > MAX_COMPATIBILITY_LENGTH,
    effect: "breaks",
    message: `It is too long: the limit is ${MAX_COMPATIBILITY_LENGTH} characters.`,
  },
  {
    way: "tools-are-a-line",
    key: "allowed-tools",
    isWrong: isList,
    effect: "note",
    message: "It is a list; the specification uses one line with spaces between the tools.",
  },
  {
    way: "tools-without-commas",
    key: "allowed-tools",
    isWrong: (value) => typeof value === "string" && /,(?![^(]*\))/.test(value),
    effect: "note",
    message:
      "It has commas; the specification separates tools with spaces, so a comma becomes part of a name.",
  },
  {
    way: "tools-only-a-line",
    key: "allowed-tools",
    isWrong: isNoText,
    effect: "breaks",
    message: "It is not a string; only one line with spaces is accepted.",
  },
  {
    way: "tools-are-a-list",
    key: "allowed-tools",
    isWrong: isText,
    effect: "note",
    message: "It is a line; this client expects a list of names.",
  },
  { way: "qwen-values", key: "allowedTools", isWrong: isNoList, effect: "breaks", message: NO_LIST },
  { way: "qwen-values", key: "model", isWrong: isNoText, effect: "breaks", message: NO_TEXT },
  { way: "qwen-values", key: "paths", isWrong: isNoList, effect: "breaks", message: NO_LIST },
  {
    way: "qwen-values",
    key: "paths",
    isWrong: (value) =>
      Array.isArray(value) && value.some((item) => /^(?:[/\\]|\.\.(?:\/|$))/.test(String(item))),
    effect: "breaks",
    message: "A pattern points outside the project; patterns start at its root, without a slash.",
  },
  {
    way: "switches-are-booleans",
    key: "disable-model-invocation",
    isWrong: (value) => typeof value !== "boolean",
    effect: "note",
    message: "It is neither `true` nor `false`, so this client may misread it.",
  },
];

export function checkValues({ fields }: CompatSubject, client: CompatClient): readonly Remark[] {
  const facts = VALUE_FACTS.filter(({ way, key, isWrong }) => {
    const value = Object.hasOwn(fields, key) ? (fields[key] ?? null) : null;
    return hasWay(client, way) && value !== null && isWrong(value);
  });
  return [
    ...facts.map(({ effect, key, message }) => remark(effect, key, message)),
    ...checkMetadata(fields.metadata ?? null, client),
  ];
}

/** The first problem. */
function checkMetadata(metadata: Json, client: CompatClient): readonly Remark[] {
  if (metadata === null) return [];
  if (!isJsonObject(metadata)) {
    const wrong = "It is not a map, and nothing else is accepted.";
    return hasWay(client, "metadata-is-a-map") ? [breaks("metadata", wrong)] : [];
  }
  const name = (isWrong: (value: Json, key: string) => boolean): string =>
    Object.entries(metadata as Readonly<Record<string, Json>>)
      .filter(([key, value]) => isWrong(value, key))
      .map(([key]) => `\`${key}\``)
      .join(", ");
  const noTexts = name(isNoText);
  if (hasWay(client, "metadata-holds-texts") && noTexts !== "")
    return [breaks("metadata", `${noTexts} in it is not a string, so this client refuses the whole file.`)];
  const nested = name(isNested);
  if (hasWay(client, "metadata-is-flat") && nested !== "")
    return [note("metadata", `${nested} in it is not a string; the specification allows only strings.`)];
  if (hasWay(client, "short-description-is-text") && isNoText((metadata["short-description"] ?? "") as Json))
    return [
      breaks("metadata", "`short-description` in it is not a string, so this client refuses the whole file."),
    ];
  const taken = name((value, key) => (key === "name" || key === "description") && !isNested(value));
  if (hasWay(client, "metadata-counts-as-own") && taken !== "")
    return [
      breaks(
        "metadata",
        `This client does not understand nesting and reads ${taken} in it as the skill's own key.`,
      ),
    ];
  return [];
}
