/** How `metier init` and `metier doctor` describe the user's models. */
import { safeLine } from "@metier/base/text";
import type { ModelFindings, ModelOffer } from "@metier/run/model";
import type { Style } from "./style.ts";

export function offersText(offers: readonly ModelOffer[], { bold, dim }: Style): string {
  const lines = offers.map(
    ({ label, found }, index) =>
      `${String(index + 1).padStart(3)}. ${safeLine(label)}  ${dim(`(${safeLine(found)})`)}`,
  );
  return [bold("Models you have"), ...lines].join("\n");
}

/** What was found but can't be chosen, and why. */
export function notesText({ servers, files, ggufPackage, programs }: ModelFindings): string {
  return [
    ...servers.flatMap(emptyServer),
    ...unreadFiles(files, ggufPackage),
    ...programs.flatMap(unusedProgram),
  ]
    .map(safeLine)
    .join("\n");
}

function emptyServer({ name, address, models, speaks }: ModelFindings["servers"][number]): readonly string[] {
  if (models.length > 0) return [];
  const advice = speaks === "ollama" ? "run `ollama pull qwen3:8b`" : "load one there first";
  return [`${name} runs at ${address} but has no models: ${advice}.`];
}

function unreadFiles(
  files: ModelFindings["files"],
  ggufPackage: ModelFindings["ggufPackage"],
): readonly string[] {
  if (files.length === 0 || "version" in ggufPackage) return [];
  return [`GGUF files found: ${someNames(files)}. ${ggufPackage.missing}`];
}

function someNames(models: readonly { readonly name: string }[]): string {
  const names = models.slice(0, 8).map(({ name }) => name);
  return `${names.join(", ")}${models.length > names.length ? `, and ${models.length - names.length} more` : ""}`;
}

type Program = ModelFindings["programs"][number];

function unusedProgram(program: Program): readonly string[] {
  return program.name === "codex" ? [programLine(program)] : [];
}

function programLine({ name, path }: Program): string {
  const use =
    name === "claude"
      ? "used only after you accept its terms in `metier init`"
      : "not used: its shell tool can't be turned off";
  return `${name}: ${path} (${use})`;
}

const WAYS = [
  "Do one of these, then run `metier init` again:",
  "  export ANTHROPIC_API_KEY=…   a key from console.anthropic.com",
  "  export OPENAI_API_KEY=…      a key from platform.openai.com",
  "  ollama pull qwen3:8b         a free model on this machine (ollama.com)",
];

/** Shown if nothing was found: where Metier looked, and what to do. */
export function nothingText({ asked }: ModelFindings): string {
  const servers = asked.map(({ name, address }) => `${name} on port ${new URL(address).port}`).join(", ");
  return [
    "No model found. Metier looked for:",
    "  keys      ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY",
    `  servers   ${servers}`,
    "  files     *.gguf in ~/models and the folders of LM Studio, llama.cpp, Hugging Face",
    "  programs  claude, codex on your PATH",
    "",
    ...WAYS,
  ]
    .map(safeLine)
    .join("\n");
}

/** The part of `doctor` below the configured models. */
export function findingLines({
  keys,
  servers,
  files,
  ggufPackage,
  programs,
}: ModelFindings): readonly string[] {
  return [
    ...keys.map(({ provider, variable }) => `${provider}: key in ${variable}`),
    ...servers.map(({ name, address, models }) => {
      return `${name} at ${address}: ${models.length === 0 ? "no models" : someNames(models)}`;
    }),
    ...(files.length === 0 ? [] : [`GGUF files: ${someNames(files)} (${readBy(ggufPackage)})`]),
    ...programs.map(programLine),
  ];
}

function readBy(ggufPackage: ModelFindings["ggufPackage"]): string {
  return "version" in ggufPackage
    ? `read by node-llama-cpp ${ggufPackage.version}`
    : "unusable: node-llama-cpp is not installed next to Metier";
}
