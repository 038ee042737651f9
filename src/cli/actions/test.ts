/** `metier test`: the cases beside skills, as text, JSON or JUnit XML. */
import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import { trustOnUse } from "../../catalog/skill-trust.ts";
import type { Config } from "../../config/config.ts";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import { SkillError, UsageError } from "../../foundation/errors.ts";
import { EXIT } from "../../foundation/exit-codes.ts";
import { isInside } from "../../host/places.ts";
import { realPathOr } from "../../host/project-folders.ts";
import type { Metier } from "../../runtime/create-metier.ts";
import { pathRefusal } from "../../runtime/registration.ts";
import type { Skill } from "../../skill/skill.ts";
import type { TestReport } from "../../testing/run-skill-tests.ts";
import { trustCommand } from "../../trust/decide-trust.ts";
import { askForTrust } from "../ask-for-trust.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, endWith, err, out, outJson } from "../context.ts";
import { openMetier, workingDirectory } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics-text.ts";
import { styleFor } from "../output/style.ts";

interface TestFlags extends CommonFlags {
  readonly filter?: string;
  readonly approve: boolean;
  readonly format?: "text" | "json" | "junit";
}

export async function run(context: CliContext, flags: TestFlags, ...asked: readonly string[]): Promise<void> {
  const cwd = workingDirectory(context, flags);
  const isPath = (text: string): boolean => existsSync(resolve(cwd, text)) || /[/\\]/.test(text);
  const paths = (asked.length > 0 ? asked.filter(isPath) : ["."]).map((path) => resolve(cwd, path));
  const opened = await openMetier(context, { ...flags, path: [...(flags.path ?? []), ...paths] });
  const metier = await askForTrust(context, flags, opened);
  const names = asked.filter((text) => !isPath(text)).map((name) => requireFile(metier.require(name)));
  const skills = [...names, ...paths.flatMap((path) => skillsBelow(metier, path))];
  const report = await testAll(context, flags, metier, [...new Set(skills)]);
  const faults = metier.diagnostics().filter((entry) => isFaultBelow(entry, paths));
  await print(context, flags, { report, faults, cwd });
  if (report.failed > 0 || report.cases.length === 0 || faults.length > 0) endWith(context, EXIT.no);
}

/** The stage behind it is loaded by this command alone. */
async function testAll(
  context: CliContext,
  flags: TestFlags,
  metier: Metier,
  skills: readonly Skill[],
): Promise<TestReport> {
  const { runSkillTests } = await import("../../testing/run-skill-tests.ts");
  const { filter, approve } = flags;
  const { grants, roots, config: loaded } = metier;
  const trustNow = trustOnUse(roots, { config: loaded.config, grants, embedding: "command-line" });
  const cwd = workingDirectory(context, flags);
  const interrupt = new AbortController();
  const stopListening = context.io.onInterrupt(() => {
    endWith(context, EXIT.cancelled);
    interrupt.abort();
  });
  try {
    return await runSkillTests(
      skills.map((skill) => {
        const { level, reason } = trustNow(skill).trust;
        return { ...skill, trust: level, trustReason: `${reason}${trustByPath(skill, cwd)}` };
      }),
      {
        config: rulesOf(loaded.config),
        environment: context.io.environment,
        signal: interrupt.signal,
        ...(approve && { approve: "all" }),
        ...(filter !== undefined && { filter }),
      },
    );
  } finally {
    stopListening();
  }
}

/** A skill that only its path leads to is not found by its name alone. */
function trustByPath({ name, scope, root }: Skill, cwd: string): string {
  return scope === "custom" ? ` From here: ${trustCommand(name, "--path", relative(cwd, root) || ".")}.` : "";
}

/** Of the user's config what holds a run, and nothing of what it may reach. */
function rulesOf({ sandbox, tools, runs, scan }: Config): Readonly<Record<string, unknown>> {
  return { sandbox: { ...sandbox, network: [], read: [], write: [] }, tools, runs, scan };
}

function requireFile(skill: Skill): Skill {
  if (skill.location !== "") return skill;
  throw new UsageError(`Skill \`${skill.name}\` has no file, so there are no tests beside it.`);
}

function skillsBelow({ catalog }: Metier, path: string): readonly Skill[] {
  const real = realPathOr(path);
  const below = catalog.all.filter(({ location }) => location !== "" && isInside(realPathOr(location), real));
  if (below.length > 0) return below;
  const isFaulty = !existsSync(path) || catalog.diagnostics.some((entry) => isFaultBelow(entry, [path]));
  if (isFaulty) throw pathRefusal(catalog, path);
  throw new SkillError(`No skill was found in \`${path}\`.`, "skill.not_found", {
    hint: "A skill is a folder with a `SKILL.md`; name one, or a folder of them.",
  });
}

/** A skill that cannot be loaded cannot be tested, which must not look like success. */
function isFaultBelow({ severity, path }: Diagnostic, paths: readonly string[]): boolean {
  return severity === "error" && paths.some((folder) => isInside(path, folder));
}

interface Printed {
  readonly report: TestReport;
  readonly faults: readonly Diagnostic[];
  readonly cwd: string;
}

async function print(context: CliContext, flags: TestFlags, { report, faults, cwd }: Printed): Promise<void> {
  const style = styleFor(context.io.color);
  if (flags.json || flags.format === "json") {
    outJson(context, { ...report, diagnostics: faults });
    return;
  }
  err(context, faults.map((found) => diagnosticText(found, style)).join("\n"));
  const { junitReport, testText } = await import("../output/test-formats.ts");
  out(context, flags.format === "junit" ? junitReport(report, cwd) : testText(report, cwd, style));
}
