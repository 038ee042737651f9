/** `metier doctor`: what was looked at, what was decided and why; for everything, or for one skill. */
import { collectUsablePackages } from "../../catalog/collect-packages.ts";
import { compareDiagnostics, type Diagnostic } from "../../foundation/diagnostic.ts";
import { EXIT } from "../../foundation/exit-codes.ts";
import type { Metier } from "../../runtime/create-metier.ts";
import { parseSkillAddress } from "../../skill/scope.ts";
import type { Skill } from "../../skill/skill.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, endWith, out, outJson } from "../context.ts";
import { describeMachine } from "../describe-machine.ts";
import { describePackages } from "../describe-packages.ts";
import { openMetier } from "../open-metier.ts";
import { doctorText, explainText } from "../output/doctor-text.ts";
import { skillJson } from "../output/skill-json.ts";
import { styleFor } from "../output/style.ts";
import { reportHeld } from "../report-held.ts";

export async function run(context: CliContext, flags: CommonFlags, name?: string): Promise<void> {
  const metier = await openMetier(context, flags);
  const style = styleFor(context.io.color);
  const { catalog, config } = metier;
  if (name !== undefined) {
    const { name: plain, scope } = parseSkillAddress(name);
    const named = catalog.all.filter((skill) => skill.name === plain);
    const skills = scope === undefined ? named : named.filter((skill) => skill.scope === scope);
    const [winner] = skills;
    const diagnostics = [
      ...catalog.diagnostics.filter(({ path, message }) => isAbout(plain, skills, path, message)),
      ...(winner ? await reportHeld(metier, winner) : []),
    ];
    if (skills.length === 0 && diagnostics.length === 0) metier.require(name);
    if (skills.length === 0) endWith(context, EXIT.no);
    const packages = await describePackages(collectUsablePackages(skills), context.io.environment);
    if (flags.json) outJson(context, { name: plain, skills: skills.map(withReason), packages, diagnostics });
    else out(context, explainText(plain, skills, diagnostics, packages, style));
    return;
  }
  const described = await describeMachine(context.io.environment, metier.places, config.config.sandbox);
  const { machine } = described;
  const diagnostics = [...catalog.diagnostics, ...described.diagnostics, ...(await missingPlugins(metier))];
  const packages = await describePackages(collectUsablePackages(catalog.all), context.io.environment);
  const { capabilityLines, describeCapabilities } = await import("../describe-capabilities.ts");
  const capabilities = await describeCapabilities(metier, context.io.environment);
  const unusable = catalog.all.filter(({ status }) => status === "disabled" || status === "unavailable");
  const shadowed = catalog.all.filter(({ status }) => status === "shadowed");
  const untrusted = catalog.all.filter(
    ({ status, trust }) => status !== "shadowed" && trust.level === "untrusted",
  );
  if (flags.json) {
    outJson(context, {
      ok: !catalog.diagnostics.some(({ severity }) => severity === "error"),
      machine,
      config: config.layers,
      places: catalog.places,
      skills: catalog.all.length,
      unusable: unusable.map(withReason),
      shadowed: shadowed.map(withReason),
      untrusted: untrusted.map(withReason),
      packages,
      capabilities,
      diagnostics: diagnostics.sort(compareDiagnostics),
    });
    return;
  }
  const lines = { capabilities: capabilityLines(capabilities) };
  out(
    context,
    doctorText(
      { machine, config, catalog, unusable, shadowed, untrusted, packages, ...lines, diagnostics },
      style,
    ),
  );
}

async function missingPlugins({ places, config, catalog }: Metier): Promise<readonly Diagnostic[]> {
  const { plugins: entries } = config.config.skills;
  if (entries.length === 0) return [];
  const { reportMissingPlugins } = await import("../../install/plugin-config.ts");
  const isThere = (name: string): boolean => catalog.get(`installed:${name}`) !== undefined;
  return reportMissingPlugins({ places, plugins: { file: places.configFile, entries, isThere } });
}

/** A file that could not become a skill has no name but its folder's or file's. */
function isAbout(name: string, skills: readonly Skill[], path: string, message: string): boolean {
  if (skills.some((skill) => skill.location === path)) return true;
  return (
    path.split(/[\\/]/).some((part) => part === name || part.replace(/\.(?:md|ya?ml)$/i, "") === name) ||
    message.includes(`\`${name}\``)
  );
}

function withReason(skill: Skill): object {
  return { ...skillJson(skill), trustReason: skill.trust.reason };
}
