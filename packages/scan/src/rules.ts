/** All scan rules, by family. */
import { CREDENTIAL_RULES, SECRET_RULES } from "./rules/credentials.ts";
import { DOWNLOAD_RULES } from "./rules/download.ts";
import { EXFILTRATION_RULES } from "./rules/exfiltration.ts";
import { FILE_RULES } from "./rules/files.ts";
import { CONTROL_RULES, DESTRUCTIVE_RULES, EVASION_RULES } from "./rules/harm.ts";
import { INJECTION_RULES } from "./rules/injection.ts";
import { OBFUSCATION_RULES } from "./rules/obfuscation.ts";
import { PERSISTENCE_RULES } from "./rules/persistence.ts";
import { NAME_RULES, TEXT_RULES } from "./rules/text.ts";
import { TOOL_RULES } from "./rules/tools.ts";
import type { RuleFacts, RuleFamily, RuleTable, ScanRule } from "./scanned-skill.ts";

const TABLES: readonly RuleTable[] = [
  TEXT_RULES,
  INJECTION_RULES,
  CREDENTIAL_RULES,
  EXFILTRATION_RULES,
  DOWNLOAD_RULES,
  OBFUSCATION_RULES,
  CONTROL_RULES,
  DESTRUCTIVE_RULES,
  PERSISTENCE_RULES,
  EVASION_RULES,
  TOOL_RULES,
  SECRET_RULES,
  NAME_RULES,
  FILE_RULES,
];

let rules: readonly ScanRule[] | undefined;

export function scanRules(): readonly ScanRule[] {
  rules ??= TABLES.flatMap(Object.entries<RuleTable[keyof RuleTable]>).map(([id, rule]) => {
    const family = id.slice(0, id.indexOf(".")) as RuleFamily;
    return { id, family, ...rule };
  });
  return rules;
}

/** Each rule's texts, without its function. */
export function listScanRules(): readonly RuleFacts[] {
  return scanRules().map(({ find: _, ...facts }) => facts);
}

export function findScanRule(id: string): RuleFacts | undefined {
  return scanRules().find((rule) => rule.id === id);
}
