/**
 * Reads a skill's `evals/evals.json`: tasks with `assertions`, or `expectations` as other tools call them. Invalid
 * parts are left out with a diagnostic that names the line; nothing is guessed.
 */
import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { SkillValidationError, UsageError } from "@metier/base/errors";
import { checkContainedPath } from "@metier/base/files";
import { isJsonObject } from "@metier/base/json";
import { nearestNames, showValue } from "@metier/base/text";
import { hasFolder } from "../disclose/resources.ts";
import type { Skill } from "../skill/skill.ts";
import type { Assertion, EvalCase, InputFile } from "./eval-case.ts";
import { EVAL_FIELDS, SET_FIELDS } from "./evals-schema.ts";
import { readAssertion } from "./read-assertion.ts";
import { isFilledText, type JsonFile, readJsonFile } from "./read-queries.ts";

export const EVALS_FILE = "evals/evals.json";

interface EvalsReading {
  readonly evals: readonly EvalCase[];
  /** An `error` means that something was left out. */
  readonly diagnostics: readonly Diagnostic[];
}

const MOST_EVALS = 500;
export function readEvals(directory: string, skill: string): EvalsReading {
  const path = join(directory, EVALS_FILE);
  const read = readJsonFile(path);
  if (!read.ok) return { evals: [], diagnostics: [read.refusal] };
  const reader = new EvalsReader(read.value);
  return { evals: reader.readSet(skill), diagnostics: reader.diagnostics };
}

class EvalsReader {
  readonly diagnostics: Diagnostic[] = [];
  readonly #file: JsonFile;
  readonly #ids = new Set<string>();
  readonly #folders = new Set<string>();

  constructor(file: JsonFile) {
    this.#file = file;
  }

  /** An object with `evals`, or only the list. */
  readSet(skill: string): readonly EvalCase[] {
    const { value } = this.#file;
    if (Array.isArray(value)) return this.#readList(value, []);
    if (!isJsonObject(value) || !Array.isArray(value.evals)) {
      this.#refuse(["evals"], "The file has no `evals` list.", 'Write {"skill_name": …, "evals": [ … ]}.');
      return [];
    }
    this.#noteUnknown(value, Object.keys(SET_FIELDS), []);
    if (value.skill_name !== undefined && value.skill_name !== skill) {
      const message = `\`skill_name\` is ${showValue(value.skill_name)}, but the skill is \`${skill}\`.`;
      this.#note(["skill_name"], "eval.other-skill", message, "Write the skill's own name.");
    }
    return this.#readList(value.evals, ["evals"]);
  }

  #readList(list: readonly unknown[], at: readonly string[]): readonly EvalCase[] {
    if (list.length > MOST_EVALS) {
      const message = `There are ${list.length} evals; only the first ${MOST_EVALS} are used.`;
      this.#refuse([...at, String(MOST_EVALS)], message, "Split them across several skills.");
    }
    return list
      .slice(0, MOST_EVALS)
      .flatMap((value, index) => this.#readEval(value, index, [...at, String(index)]) ?? []);
  }

  #readEval(value: unknown, index: number, at: readonly string[]): EvalCase | undefined {
    if (!isJsonObject(value)) {
      this.#refuse(at, `Eval ${index + 1} is ${showValue(value)}; it must be an object.`, SHAPE);
      return undefined;
    }
    this.#noteUnknown(value, Object.keys(EVAL_FIELDS), at);
    if (!isFilledText(value.prompt)) {
      const message = `Eval ${index + 1} has no \`prompt\`.`;
      this.#refuse([...at, "prompt"], message, SHAPE);
      return undefined;
    }
    const id = this.#readId(value.id, index, at);
    if (id === undefined) return undefined;
    const assertions = this.#readAssertions(value, at);
    const files = this.#readFiles(value.files, at);
    if (assertions === undefined || files === undefined) return undefined;
    const written = [value.name, value.eval_name].find(isFilledText);
    const name = written ?? `Eval ${id}`;
    return {
      id,
      name,
      folder: this.#chooseFolder(written ?? id),
      prompt: value.prompt,
      expectedOutput: isFilledText(value.expected_output) ? value.expected_output : undefined,
      files,
      assertions,
    };
  }

  #readId(value: unknown, index: number, at: readonly string[]): string | undefined {
    const id = value ?? index + 1;
    if (!isFilledText(id) && !Number.isSafeInteger(id)) {
      this.#refuse([...at, "id"], `\`id\` is ${showValue(id)}; it must be a number or a string.`, SHAPE);
      return undefined;
    }
    const text = String(id).trim();
    if (this.#ids.has(text)) {
      this.#refuse([...at, "id"], `The id ${showValue(text)} appears twice.`, "Give each eval its own id.");
      return undefined;
    }
    this.#ids.add(text);
    return text;
  }

  /** Both names may be present; then both lists count. */
  #readAssertions(
    value: Readonly<Record<string, unknown>>,
    at: readonly string[],
  ): readonly Assertion[] | undefined {
    const found: Assertion[] = [];
    let isSound = true;
    for (const key of ["assertions", "expectations"]) {
      const list = value[key] ?? [];
      if (!Array.isArray(list)) {
        this.#refuse([...at, key], `\`${key}\` is ${showValue(list)}; it must be a list.`, SHAPE);
        isSound = false;
        continue;
      }
      for (const [index, entry] of list.entries()) {
        const read = readAssertion(entry);
        if (read.ok) found.push(read.value);
        else this.#refuse([...at, key, String(index)], read.refusal.message, read.refusal.hint ?? SHAPE);
        isSound &&= read.ok;
      }
    }
    if (isSound && found.length === 0) {
      const message =
        "The eval has neither `assertions` nor `expectations`: its runs are kept but not graded.";
      this.#note(at, "eval.no-assertions", message, "Add assertions that must be true of the result.");
    }
    return isSound ? found : undefined;
  }

  #readFiles(value: unknown = [], at: readonly string[] = []): readonly InputFile[] | undefined {
    if (!Array.isArray(value)) {
      this.#refuse([...at, "files"], `\`files\` is ${showValue(value)}; it must be a list of paths.`, SHAPE);
      return undefined;
    }
    const files: InputFile[] = [];
    for (const [index, entry] of value.entries()) {
      const checked = checkContainedPath(entry);
      const target = checked.ok ? placeInWorkspace(checked.path) : "";
      const isTaken = files.some((file) => file.target === target);
      if (checked.ok && !isTaken) {
        files.push({ source: checked.path, target });
        continue;
      }
      const message = checked.ok
        ? `Two of the \`files\` would both be ${showValue(target)} in the workspace.`
        : `One of the \`files\` is not valid: ${checked.message}`;
      const hint = "Name files by their paths in the skill's folder, such as `evals/files/data.csv`.";
      this.#refuse([...at, "files", String(index)], message, hint);
      return undefined;
    }
    return files;
  }

  #chooseFolder(name: string): string {
    const words = name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 60);
    const plain = `eval-${words.replace(/^eval-/, "") || "case"}`;
    let folder = plain;
    for (let number = 2; this.#folders.has(folder); number++) folder = `${plain}-${number}`;
    this.#folders.add(folder);
    return folder;
  }

  #noteUnknown(
    value: Readonly<Record<string, unknown>>,
    known: readonly string[],
    at: readonly string[],
  ): void {
    for (const key of Object.keys(value).filter((name) => !known.includes(name))) {
      const near = nearestNames(key, known)[0];
      const hint = near === undefined ? `Known fields: ${known.join(", ")}.` : `Did you mean \`${near}\`?`;
      this.#note([...at, key], "eval.unknown-field", `Unknown field ${showValue(key)}.`, hint);
    }
  }

  #refuse(at: readonly string[], message: string, hint: string): void {
    this.diagnostics.push(this.#file.report(at, { code: "eval.invalid", severity: "error", message, hint }));
  }

  #note(at: readonly string[], code: Diagnostic["code"], message: string, hint: string): void {
    this.diagnostics.push(this.#file.report(at, { code, severity: "warning", message, hint }));
  }
}

const SHAPE = 'An eval is {"id", "prompt", "expected_output", "files", "assertions"}.';

/** `evals/files/data/a.csv` becomes `data/a.csv`: drops the part that only says where eval files are stored. */
function placeInWorkspace(path: string): string {
  const below = path.replace(/^evals\//, "").replace(/^files\//, "");
  return below === "" ? posix.basename(path) : below;
}

/** The evals to run. Throws `UsageError` if there are none, and `SkillValidationError` if none is valid. */
interface ChosenEvals {
  readonly skill: Skill;
  /** Ids or names; default: all. */
  readonly only?: readonly string[] | undefined;
}

export function chooseEvals({ skill, only }: ChosenEvals): EvalsReading {
  if (!hasFolder(skill)) {
    throw new UsageError(`The skill \`${skill.name}\` has no folder, so it cannot have evals.`, {
      hint: "Make it a folder with `SKILL.md` and `evals/evals.json`.",
    });
  }
  if (!existsSync(join(skill.directory, EVALS_FILE))) {
    throw new UsageError(`The skill \`${skill.name}\` has no evals.`, {
      hint: `Create \`${EVALS_FILE}\` in its folder: {"evals": [{"id": 1, "prompt": "…", "assertions": ["…"]}]}.`,
    });
  }
  const { evals, diagnostics } = readEvals(skill.directory, skill.name);
  if (evals.length === 0) {
    const faults = diagnostics.map(({ line = 1, message }) => `line ${line}: ${message}`);
    const file = join(skill.directory, EVALS_FILE);
    throw new SkillValidationError(skill.name, [`${file} has no valid eval`, ...faults], file);
  }
  if (only === undefined) return { evals, diagnostics };
  const chosen = only.map((wanted) => {
    const found = evals.find(({ id, name, folder }) => [id, name, folder].includes(wanted));
    if (found) return found;
    throw new UsageError(`There is no eval \`${wanted}\`.`, {
      hint: `The evals are ${evals.map(({ id }) => `\`${id}\``).join(", ")}.`,
    });
  });
  return { evals: [...new Set(chosen)], diagnostics };
}
