/** Notes for authors: which fields other clients will not know, and which this version does not act on yet. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { type Client, isSpecField } from "../skill/manifest-field.ts";
import type { ParsedSkill } from "../skill/skill.ts";
import type { Profile } from "./profiles.ts";
import { type GivenField, readFields } from "./read-fields.ts";
import { createReport, showNames } from "./report.ts";

const CLIENT_NAMES: Readonly<Record<Client, string>> = {
  spec: "every client",
  "claude-code": "Claude Code",
  ash: "ash",
  "agent-harness": "agent-harness",
  mamba: "mamba-agents",
  openclaw: "OpenClaw",
  metier: "Metier",
};

/** At most one note of each kind. */
export function noteFields(parsed: ParsedSkill, profile: Profile): readonly Diagnostic[] {
  const notes: Diagnostic[] = [];
  const report = createReport(parsed, profile, notes);
  const { known } = readFields(parsed, () => undefined);
  const given = known.filter(({ value }) => value !== null);
  const foreign = given.filter(({ field }) => !isSpecField(field) && field.belongsTo === undefined);
  if (foreign.length > 0) {
    report("field.not-portable", `Not every client knows ${foreign.map(showWithClients).join(", ")}.`, {
      key: foreign[0]?.key ?? "",
      hint: "The other clients ignore them, so the skill must make sense without.",
    });
  }
  const idle = given.filter(({ field }) => field.honouredBy === undefined);
  if (idle.length > 0) {
    report(
      "field.not-honoured",
      `This version reads, but does not act on ${showNames(idle.map(({ key }) => key))}.`,
      {
        key: idle[0]?.key ?? "",
      },
    );
  }
  return notes;
}

function showWithClients({ field, key }: GivenField): string {
  return `\`${key}\` (${field.clients.map((client) => CLIENT_NAMES[client]).join(", ")})`;
}
