/** Every rule of a scan, once, by family. */
import type { RuleFacts, ScanRule } from "./rule.ts";
import { CONTROL_RULES } from "./rules/control.ts";
import { CREDENTIAL_RULES } from "./rules/credentials.ts";
import { DESTRUCTIVE_RULES } from "./rules/destructive.ts";
import { DOWNLOAD_RULES } from "./rules/download.ts";
import { EVASION_RULES } from "./rules/evasion.ts";
import { EXFILTRATION_RULES } from "./rules/exfiltration.ts";
import { FILE_RULES } from "./rules/files.ts";
import { HIDDEN_INSTRUCTION_RULES } from "./rules/hidden-instructions.ts";
import { INJECTION_RULES } from "./rules/injection.ts";
import { MEMORY_RULES } from "./rules/memory-in-prose.ts";
import { NAME_RULES } from "./rules/names.ts";
import { OBFUSCATION_RULES } from "./rules/obfuscation.ts";
import { PERSISTENCE_RULES } from "./rules/persistence.ts";
import { SECRET_RULES } from "./rules/secrets.ts";
import { SENDING_RULES } from "./rules/sending-in-prose.ts";
import { TEXT_RULES } from "./rules/text.ts";
import { TOOL_RULES } from "./rules/tools.ts";

export const SCAN_RULES: readonly ScanRule[] = [
  ...TEXT_RULES,
  ...INJECTION_RULES,
  ...HIDDEN_INSTRUCTION_RULES,
  ...SENDING_RULES,
  ...CREDENTIAL_RULES,
  ...EXFILTRATION_RULES,
  ...DOWNLOAD_RULES,
  ...OBFUSCATION_RULES,
  ...CONTROL_RULES,
  ...DESTRUCTIVE_RULES,
  ...PERSISTENCE_RULES,
  ...MEMORY_RULES,
  ...EVASION_RULES,
  ...TOOL_RULES,
  ...SECRET_RULES,
  ...NAME_RULES,
  ...FILE_RULES,
];

/** What is worth telling of each rule, without its function. */
export function listScanRules(): readonly RuleFacts[] {
  return SCAN_RULES.map(({ find: _, ...facts }) => facts);
}

export function findScanRule(id: string): RuleFacts | undefined {
  return SCAN_RULES.find((rule) => rule.id === id);
}
