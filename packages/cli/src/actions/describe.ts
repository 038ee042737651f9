/** `metier describe`: which requests a skill's description wins, and which words would win the lost ones. */
import { resolve } from "node:path";
import { EXIT, UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { safeLine } from "@metier/base/text";
import { type DescriptionReport, describeRouting, rewriteDescription } from "@metier/evals";
import { visibleSkills } from "@metier/skills";
import { findQueryFile, QUERY_FILES, readQueries } from "@metier/skills/formats";
import type { DescribeFlags } from "../commands/authoring.ts";
import type { Action } from "../commands/define.ts";
import { endWith, err, reply, withInterrupt } from "../context.ts";
import { workingDirectory } from "../open-metier.ts";
import { diagnosticsText } from "../output/diagnostics.ts";
import { usedText } from "../output/eval-text.ts";
import { count, cutText, type Style, styleFor } from "../output/style.ts";
import { openEvaluated } from "./eval.ts";

export const describeAction: Action<DescribeFlags, [skill: string]> = async (context, flags, asked) => {
  const cwd = workingDirectory(context, flags);
  const { metier, open, find } = await openEvaluated(context, flags, [asked]);
  const skill = find(asked);
  const file = flags.queries === undefined ? findQueryFile(skill) : resolve(cwd, flags.queries);
  if (file === undefined) {
    throw new UsageError(`\`${skill.name}\` has no queries to measure its description with.`, {
      hint: `Write \`${QUERY_FILES[0]}\`: [{"query": "…", "should_trigger": true}, …], or pass \`--queries <file>\`.`,
    });
  }
  const { queries, diagnostics } = readQueries(file);
  err(context, diagnosticsText(diagnostics, styleFor(context.io.color)));
  if (queries.length === 0) throw new UsageError(`\`${file}\` has no usable queries.`);
  const skills = visibleSkills(metier.list());
  const before = describeRouting(skill, skills, queries);
  const wishes = readModelFlags(flags, cwd);
  const rewritten =
    wishes.model === undefined
      ? undefined
      : await withInterrupt(context, (signal) => rewriteDescription(open, before, { ...wishes, signal }));
  if (rewritten && !rewritten.ok) endWith(context, EXIT.failed);
  const proposed = flags.description ?? (rewritten?.ok ? rewritten.value.description : undefined);
  const after =
    proposed === undefined
      ? undefined
      : describeRouting({ ...skill, description: proposed }, skills, queries);
  const fault = rewritten && !rewritten.ok ? rewritten.refusal : undefined;
  const used = rewritten?.ok ? rewritten.value.used : undefined;
  reply(context, flags, presentFields({ before, after, used, fault, diagnostics }), (style) =>
    [
      reportText(before, style),
      ...(after ? [`Proposed: ${safeLine(after.description)}`, reportText(after, style)] : []),
      ...(used === undefined || used.tokens === 0 ? [] : [style.dim(usedText(used))]),
      ...(fault === undefined ? [] : [style.red(`No new description: ${safeLine(fault)}`)]),
    ].join("\n"),
  );
};

/** Empty if no model is asked. */
function readModelFlags(
  { model, record, replay }: DescribeFlags,
  cwd: string,
): { readonly model?: string; readonly record?: string } {
  if (replay !== undefined && (model !== undefined || record !== undefined)) {
    const other = model === undefined ? "--record" : "--model";
    throw new UsageError(`\`--replay\` replaces the model, so \`${other}\` can't be used with it.`);
  }
  if (record !== undefined && model === undefined) {
    throw new UsageError("`--record` needs a model to record.", {
      hint: "Pass `--model <name>`.",
    });
  }
  return presentFields({
    model: replay === undefined ? model : `replay:${resolve(cwd, replay)}`,
    record: record === undefined ? undefined : resolve(cwd, record),
  });
}

function reportText({ skill, passed, total, queries, suggestions }: DescriptionReport, style: Style): string {
  const wrong = queries
    .filter((query) => !query.passed)
    .map(({ query, shouldTrigger, winner, words }) => {
      const where = winner === null ? "no skill" : safeLine(winner);
      const verdict = shouldTrigger ? `goes to ${where}` : "wins, but is for another skill";
      const help =
        words.length === 0 ? "" : style.dim(`  words that would win it: ${words.map(safeLine).join(", ")}`);
      return `  ${style.red("✗")} ${cutText(query, 80)}  ${verdict}${help}`;
    });
  const best = suggestions.map(({ word, wins }) => `${safeLine(word)} (${wins})`).join(", ");
  return [
    `${style.bold(safeLine(skill))}: the description routes ${passed} of ${count(total, "request")} correctly.`,
    ...wrong,
    ...(best === "" ? [] : [`  Words to add, with the number of requests each wins: ${best}`]),
  ].join("\n");
}
