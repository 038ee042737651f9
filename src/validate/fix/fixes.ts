/** Which findings can be written back, and how. What is not here is for the author to decide. */
import type { DiagnosticCode } from "../../foundation/diagnostic-codes.ts";
import {
  addName,
  quoteMetadata,
  quoteScalar,
  removeRepetition,
  renameKey,
  rewriteEntry,
  spaceBlanks,
  writeAsRead,
  writeToolLine,
} from "./entry-fixes.ts";
import { addBothFences, addClosingFence, separateFence, trimStart } from "./fence-fixes.ts";
import type { Fix } from "./fixable-file.ts";

export const FIXES: Partial<Record<DiagnosticCode, readonly Fix[]>> = {
  "file.bom": [trimStart],
  "frontmatter.leading-blank": [trimStart],
  "frontmatter.glued-fence": [separateFence],
  "frontmatter.unclosed": [addClosingFence],
  "frontmatter.no-opening": [addBothFences],
  "yaml.repaired": [spaceBlanks, rewriteEntry],
  "yaml.duplicate-key": [removeRepetition],
  "field.case": [renameKey],
  "field.scalar-for-text": [quoteScalar],
  "field.structure-for-text": [writeAsRead],
  "field.coerced": [writeAsRead],
  "metadata.scalar": [quoteMetadata],
  "name.missing": [addName],
  "tools.list": [writeToolLine],
  "tools.commas": [writeToolLine],
};
