/**
 * Every diagnostic code and what it means, in one table: the reference page and the pins are made from it.
 * Severity is not here: for rules about a skill file the profile decides it (`validate/profiles.ts`).
 */
export const DIAGNOSTIC_CODES = {
  // reading a skill file
  "file.unreadable": "The file could not be read.",
  "file.too-large": "The file is larger than a skill file may be.",
  "file.not-utf8": "The file is not UTF-8; invalid bytes were replaced.",

  // a source, a directory, a link
  "source.missing": "A path that was asked for does not exist.",
  "source.not-a-directory": "A skills path is not a directory.",
  "source.unreadable": "A directory could not be listed.",
  "source.foreign-owner": "A project directory belongs to another user and is not searched.",
  "scan.depth-limit": "Directories below the depth limit were not searched.",
  "scan.entry-limit": "The entry limit was reached; the rest was not searched.",
  "scan.ignored": "A `.gitignore` hides a skill file.",
  "scan.nested-skill": "A skill file lies below another skill and is part of its content.",
  "scan.no-skill": "A path that was asked for holds no skill.",
  "link.escapes": "A link leads out of every known skills directory and is not followed.",
  "link.dangling": "A link leads nowhere.",

  // who wins
  "catalog.conflict": "Two skills of one name stand in the same scope.",
  "catalog.same-skill-twice": "The same skill is reached by two paths.",
  "catalog.untrusted-shadow": "An untrusted skill has the name of a trusted one and does not replace it.",
} as const;

export type DiagnosticCode = keyof typeof DIAGNOSTIC_CODES;
