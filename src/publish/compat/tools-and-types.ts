/** In which form each client takes the values of keys that it knows: tools, globs, maps. A wrong form can lose the skill. */
import type { Json } from "../../skill/manifest.ts";
import { MAX_COMPATIBILITY_LENGTH } from "../../skill/manifest-fields.ts";
import { isMap } from "../../validate/json-kinds.ts";
import type { CompatClientId } from "./compat-clients.ts";
import { breaks, type CompatSubject, note, type Remark } from "./compat-subject.ts";

interface TypeFact {
  readonly clients: readonly CompatClientId[];
  readonly key: string;
  /** Whether the value, which is not null, is in a form that is not taken. */
  readonly isWrong: (value: Json) => boolean;
  readonly effect: Remark["effect"];
  readonly message: string;
}

const isList = (value: Json): boolean => Array.isArray(value);
const isText = (value: Json): boolean => typeof value === "string";
const hasCommas = (value: Json): boolean => typeof value === "string" && /,(?![^(]*\))/.test(value);

/** The limits of the specification, which these hold to. */
const HOLDS_COMPATIBILITY: readonly CompatClientId[] = ["agentskills", "agent-harness", "weakincentives"];

const FACTS: readonly TypeFact[] = [
  {
    clients: HOLDS_COMPATIBILITY,
    key: "compatibility",
    isWrong: (value) => !isText(value),
    effect: "breaks",
    message: "It is no text, and nothing else is taken.",
  },
  {
    clients: HOLDS_COMPATIBILITY,
    key: "compatibility",
    isWrong: (value) => typeof value === "string" && [...value].length > MAX_COMPATIBILITY_LENGTH,
    effect: "breaks",
    message: `It is too long: it may have ${MAX_COMPATIBILITY_LENGTH} characters.`,
  },
  {
    clients: ["agentskills", "claude-ai"],
    key: "allowed-tools",
    isWrong: isList,
    effect: "note",
    message: "It is a list; the specification has one line with spaces between the tools.",
  },
  {
    clients: ["agentskills", "claude-ai", "weakincentives", "agent-harness"],
    key: "allowed-tools",
    isWrong: hasCommas,
    effect: "note",
    message: "It has commas; the specification separates tools by spaces, so a comma becomes part of a name.",
  },
  {
    clients: ["weakincentives"],
    key: "allowed-tools",
    isWrong: (value) => !isText(value),
    effect: "breaks",
    message: "It is no text, and only one line with spaces is taken.",
  },
  {
    clients: ["mamba"],
    key: "allowed-tools",
    isWrong: isText,
    effect: "note",
    message: "It is a line; a list of names is expected there.",
  },
  {
    clients: ["qwen-code"],
    key: "allowedTools",
    isWrong: (value) => !isList(value),
    effect: "breaks",
    message: "It is no list, and nothing else is taken.",
  },
  {
    clients: ["qwen-code"],
    key: "model",
    isWrong: (value) => !isText(value),
    effect: "breaks",
    message: "It is no text, and nothing else is taken.",
  },
  {
    clients: ["qwen-code"],
    key: "paths",
    isWrong: (value) => !isList(value),
    effect: "breaks",
    message: "It is no list, and nothing else is taken.",
  },
  {
    clients: ["qwen-code"],
    key: "paths",
    isWrong: (value) =>
      isList(value) &&
      (value as readonly Json[]).some((item) => /^(?:[/\\]|\.\.(?:\/|$))/.test(String(item))),
    effect: "breaks",
    message: "A pattern leads out of the project; they begin at its root, without a slash.",
  },
  {
    clients: ["pi", "cursor", "copilot"],
    key: "disable-model-invocation",
    isWrong: (value) => typeof value !== "boolean",
    effect: "note",
    message: "It is neither `true` nor `false`, so it may not be understood.",
  },
];

/** A value that the specification does not have below `metadata`. */
const isNested = (value: Json): boolean => typeof value === "object" && value !== null;
const isNoText = (value: Json): boolean => typeof value !== "string";

export function checkTypes(subject: CompatSubject, client: CompatClientId): readonly Remark[] {
  const { fields } = subject;
  const facts = FACTS.filter(({ clients, key, isWrong }) => {
    const value = Object.hasOwn(fields, key) ? (fields[key] ?? null) : null;
    return clients.includes(client) && value !== null && isWrong(value);
  });
  return [
    ...facts.map(({ effect, key, message }) =>
      effect === "breaks" ? breaks(key, message) : note(key, message),
    ),
    ...checkMetadata(fields.metadata ?? null, client),
  ];
}

function checkMetadata(metadata: Json, client: CompatClientId): readonly Remark[] {
  if (metadata === null) return [];
  if (!isMap(metadata)) {
    const mustBeMap: readonly CompatClientId[] = ["codex", "agent-harness", "weakincentives"];
    return mustBeMap.includes(client) ? [breaks("metadata", "It is no map, and nothing else is taken.")] : [];
  }
  const values = Object.entries(metadata);
  const name = (wrong: readonly (readonly [string, Json])[]): string =>
    wrong.map(([key]) => `\`${key}\``).join(", ");
  const noTexts = values.filter(([, value]) => isNoText(value));
  if ((client === "agent-harness" || client === "weakincentives") && noTexts.length > 0) {
    return [breaks("metadata", `${name(noTexts)} below it is no text, and the whole file is refused.`)];
  }
  const nested = values.filter(([, value]) => isNested(value));
  if ((client === "agentskills" || client === "claude-ai") && nested.length > 0) {
    return [note("metadata", `${name(nested)} below it is no text; the specification has only texts there.`)];
  }
  if (client === "codex" && isNoText(metadata["short-description"] ?? "")) {
    return [breaks("metadata", "`short-description` below it is no text, and the whole file is refused.")];
  }
  const taken = values.filter(
    ([key, value]) => (key === "name" || key === "description") && !isNested(value),
  );
  if (client === "letta" && taken.length > 0) {
    return [
      breaks("metadata", `${name(taken)} below it is read as the skill's own: nesting is not understood.`),
    ];
  }
  return [];
}
