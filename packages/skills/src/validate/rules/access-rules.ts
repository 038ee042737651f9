/**
 * Who may invoke a skill, what a run gets from the host (capabilities, environment variables, packages), and what the
 * skill says about tools and commands: tool patterns, toolsets, triggers and hooks.
 */
import type { DiagnosticCode } from "@metier/base/diagnostic";
import { isJsonObject } from "@metier/base/json";
import { showValue, toKebabCase } from "@metier/base/text";
import {
  isCapabilityId,
  isPackageName,
  parseToolPattern,
  parseToolsetEntry,
} from "../../skill/field-grammars.ts";
import { findGiven, keyOf } from "../build-manifest.ts";
import { coerceList } from "../coerce.ts";
import { type Report, severityIn } from "../profiles.ts";
import { readHooks } from "../read-hooks.ts";
import type { Rule, RuleSubject } from "../validate-skill.ts";

/**
 * `access` says in which chat types a skill may be invoked. An unreadable value could be a restriction, so the skill
 * then counts as sensitive.
 */
export const accessRule: Rule = {
  codes: ["access.unclear"],
  fields: ["access"],
  check(subject, report) {
    const given = findGiven(subject.fields.known, "access");
    if (given === undefined || given.value === null) return;
    if (!isJsonObject(given.value)) {
      restrict(subject, given.key, `\`${given.key}\` is ${showValue(given.value)}, not a map.`, report);
      return;
    }
    for (const [key, value] of Object.entries(given.value)) {
      const inner = { ...given, key: `${given.key}.${key}`, value };
      const types =
        toKebabCase(key) === "chat-types" ? coerceList(inner, { separator: "words" }, report) : undefined;
      if (types !== undefined) subject.draft.chatTypes = types.map((type) => type.toLowerCase());
      else restrict(subject, given.key, `\`${inner.key}\` is not valid.`, report);
    }
  },
};

function restrict({ draft }: RuleSubject, key: string, message: string, report: Report): void {
  draft.sensitive = true;
  report("access.unclear", `${message} Until you fix it, the skill counts as \`sensitive\`.`, {
    key,
    hint: "Write `chat-types` below it, with a list such as `[private]`.",
  });
}

/** The message about an item in the wrong form. */
interface ItemFault {
  readonly code: DiagnosticCode;
  /** What follows the item in the message. */
  readonly what: string;
  readonly hint: string;
}

/** The items in the right form; each of the others is reported and ignored. */
function keepItems(
  items: readonly string[],
  key: string,
  isRight: (item: string) => boolean,
  { code, what, hint }: ItemFault,
  report: Report,
): readonly string[] {
  return items.filter((item) => {
    const keeps = isRight(item);
    if (!keeps) report(code, `\`${key}\` has ${showValue(item)}${what}.`, { key, hint });
    return keeps;
  });
}

/** The skill is loaded without the malformed items. */
function itemRule(
  field: "capabilities" | "packages" | "toolsets",
  isRight: (item: string) => boolean,
  fault: ItemFault,
): Rule {
  return {
    codes: [fault.code],
    fields: [field],
    check({ draft, fields }, report) {
      draft[field] = keepItems(draft[field], keyOf(fields.known, field), isRight, fault, report);
    },
  };
}

/** Capability ids are namespaced. */
export const capabilitiesRule: Rule = itemRule("capabilities", isCapabilityId, {
  code: "capability.not-namespaced",
  what: ", which is not `namespace.name`",
  hint: "Write the provider's namespace, a dot and the name, in lowercase, such as `gog.email`.",
});

/** Packages must have Debian names, so that only names reach apt. */
export const packagesRule: Rule = itemRule("packages", isPackageName, {
  code: "package.name",
  what: ", which is not the name of a Debian package",
  hint: "Write only the name, without a version: lowercase letters, digits, `+`, `-` and `.`, such as `jq`; this one is ignored.",
});

/** Toolsets name a module in the skill's folder and its export. */
export const toolsetsRule: Rule = itemRule("toolsets", (entry) => parseToolsetEntry(entry) !== undefined, {
  code: "toolset.malformed",
  what: "; it is ignored",
  hint: "Write a path inside the skill's folder, a colon and a name, such as `toolsets/index:Tools`.",
});

const VARIABLE_NAME = /^[A-Z_][A-Z0-9_]*$/;
const NO_VARIABLE: ItemFault = {
  code: "env.name",
  what: ", which is not a valid variable name",
  hint: "Use capital letters, digits and `_`, not starting with a digit; this one is ignored.",
};

/** Environment variable names must be valid. */
export const environmentRule: Rule = {
  codes: ["env.name"],
  fields: ["env", "requires"],
  check({ draft, fields }, report) {
    const keepNames = (names: readonly string[], key: string): readonly string[] =>
      keepItems(names, key, (name) => VARIABLE_NAME.test(name), NO_VARIABLE, report);
    const env = findGiven(fields.known, "env");
    if (env !== undefined) draft.env = keepNames(draft.env, env.key);
    const requires = findGiven(fields.known, "requires");
    if (requires === undefined || draft.requires.env.length === 0) return;
    draft.requires = { ...draft.requires, env: keepNames(draft.requires.env, `${requires.key}.env`) };
  },
};

/** Tool patterns must be readable; `allowed-tools` is one line with spaces, as in the specification. */
export const toolsRule: Rule = {
  codes: ["tools.list", "tools.commas", "tools.malformed"],
  fields: ["allowed-tools", "disallowed-tools", "required-tools"],
  check(subject, report) {
    const { allowedTools, disallowedTools, requiredTools } = subject.draft;
    if (allowedTools !== undefined) checkPatterns(subject, "allowed-tools", allowedTools, report);
    checkPatterns(subject, "disallowed-tools", disallowedTools, report);
    checkPatterns(subject, "required-tools", requiredTools, report);
    checkForm(subject, report);
  },
};

function checkPatterns(
  { fields }: RuleSubject,
  name: string,
  patterns: readonly string[],
  report: Report,
): void {
  for (let index = 0; index < patterns.length; index++) {
    const pattern = patterns[index] ?? "";
    if (parseToolPattern(pattern) !== undefined) continue;
    const key = keyOf(fields.known, name);
    report("tools.malformed", `\`${key}\` has ${showValue(pattern)}, which matches no tool.`, {
      key,
      hint: "Write a tool's name, or a name with a scope in parentheses such as `Bash(git:*)`.",
    });
  }
}

function checkForm({ draft, fields, profile }: RuleSubject, report: Report): void {
  if (severityIn(profile, "tools.list") === "off" && severityIn(profile, "tools.commas") === "off") return;
  const given = findGiven(fields.known, "allowed-tools");
  if (given === undefined || draft.allowedTools === undefined) return;
  const { key, value } = given;
  const line = draft.allowedTools.join(" ");
  const hint = `Write \`${key}: ${line}\`.`;
  if (Array.isArray(value)) {
    report("tools.list", `\`${key}\` is a list; the specification uses one line.`, { key, hint });
  } else if (typeof value === "string" && countCommas(value) > countCommas(line)) {
    report("tools.commas", `\`${key}\` has commas; the specification uses spaces between tools.`, {
      key,
      hint,
    });
  }
}

function countCommas(text: string): number {
  return text.split(",").length - 1;
}

/** Trigger patterns are regular expressions. */
export const triggersRule: Rule = {
  codes: ["trigger.pattern"],
  fields: ["triggers"],
  check({ draft, fields }, report) {
    const key = keyOf(fields.known, "triggers");
    if (draft.triggers === undefined) return;
    const patterns = draft.triggers.patterns.filter((pattern) => {
      const fault = regularExpressionFault(pattern);
      if (fault === undefined) return true;
      report("trigger.pattern", `\`${key}.patterns\` has ${showValue(pattern)}: ${fault}.`, {
        key,
        hint: "Write a JavaScript regular expression; this one is ignored.",
      });
      return false;
    });
    draft.triggers = { ...draft.triggers, patterns };
  },
};

function regularExpressionFault(pattern: string): string | undefined {
  try {
    new RegExp(pattern, "u");
    return undefined;
  } catch (fault) {
    return fault instanceof Error ? fault.message : String(fault);
  }
}

/** Hooks must be readable: existing events, with commands. A run reads them the same way. */
export const hooksRule: Rule = {
  codes: ["hook.malformed", "hook.unknown-event", "field.unknown-key"],
  fields: ["hooks"],
  check({ draft }, report) {
    if (draft.hooks !== undefined) readHooks(draft.hooks, report);
  },
};
