/**
 * PowerShell, Ruby, Perl, PHP and Lua, which have no grammar here: line by line, in the usual forms in which they fetch,
 * send, read, decode and execute. Values are followed through variables; commands for the shell are read by its grammar.
 */
import type { Act } from "./act.ts";
import { type CodeLanguage, type CodePart, partWithin } from "./code-part.ts";
import { formsOf, type LineForms } from "./line-forms.ts";
import { isSecretVariable, secretKindOf } from "./sensitive-paths.ts";
import { hasTaint, NO_TAINTS, type Taints, taint, uniteTaints } from "./taint.ts";

/** The target belongs to it, also with a member or an element: `request.body = data`. */
const ASSIGNMENT =
  /^\s*(?:my\s+|local\s+|our\s+)?([$@%]?\w+)(?:(?:\.|->|::)\w+|\[[^\]]*\]|\{[^}]*\})*\s*=[^=~>]/;
const ADDRESS = /https?:\/\/[^\s"'`)]+/i;
/** A value that was put into a command. */
const SENDING_COMMAND = /\b(?:curl|wget|nc|ncat|scp)\s/;
const TEXTS = /"((?:[^"\\]|\\.){1,400})"|'((?:[^'\\]|\\.){1,400})'/g;

/** What a variable is known to hold. */
interface Held {
  readonly taints: Taints;
  readonly address: string;
}

const NOTHING: Held = { taints: NO_TAINTS, address: "" };

export function followLines(part: CodePart, follow: (inner: CodePart) => Taints): readonly Act[] {
  const forms = formsOf(part.language);
  const variables = new Map<string, Held>();
  const acts: Act[] = [];
  let at = 0;
  for (const line of part.text.split("\n")) {
    const code = line.replace(forms.comment, "").trim();
    if (code !== "") {
      const inner = (text: string): Taints => follow(partWithin(part, at, "shell", text));
      const { acts: found, held } = followLine(code, part.language, variables, inner);
      const [, assigned] = ASSIGNMENT.exec(code) ?? [];
      if (assigned !== undefined && held !== NOTHING) remember(variables, assigned, held);
      const seen = line.trim().slice(0, 400);
      acts.push(...found.map((act) => ({ ...act, part, at, seen })));
    }
    at += line.length + 1;
  }
  return acts;
}

/** A request is filled piece by piece. */
function remember(variables: Map<string, Held>, name: string, { taints, address }: Held): void {
  const before = variables.get(name) ?? NOTHING;
  variables.set(name, { taints: uniteTaints(before.taints, taints), address: address || before.address });
}

type LineAct = Omit<Act, "part" | "at" | "seen">;

function followLine(
  code: string,
  language: CodeLanguage,
  variables: ReadonlyMap<string, Held>,
  followCommand: (text: string) => Taints,
): { readonly acts: readonly LineAct[]; readonly held: Held } {
  const forms = formsOf(language);
  const { rest, printed } = takeCommands(code, forms, followCommand);
  const used = (code.match(/[$@%]?\b\w+/g) ?? []).map((name) => variables.get(name) ?? NOTHING);
  const [url = ""] = ADDRESS.exec(code) ?? [];
  const address = url || (used.find((held) => held.address !== "")?.address ?? "");
  const fetches = forms.fetch.test(rest);
  const secret = forms.read.test(rest)
    ? textsOf(rest).find((text) => secretKindOf(text) !== undefined)
    : undefined;
  const taints = uniteTaints(
    printed,
    fetches ? taint("remote", url) : NO_TAINTS,
    forms.decode.test(rest) ? taint("decoded") : NO_TAINTS,
    secret === undefined ? NO_TAINTS : taint("secret", secret),
    forms.environment.test(rest) ? taint("environment") : NO_TAINTS,
    ...secretVariables(rest, forms).map((name) => taint("variable", name)),
    ...used.map((held) => held.taints),
  );
  const acts: LineAct[] = [];
  if (fetches) acts.push({ kind: "fetch", taints: NO_TAINTS, target: url });
  if (secret !== undefined) acts.push({ kind: "read", taints: taint("secret", secret), target: secret });
  const isPrivate = hasTaint(taints, "secret", "environment");
  if ((forms.send.test(rest) && (address !== "" || isPrivate)) || (isPrivate && SENDING_COMMAND.test(code)))
    acts.push({ kind: "send", taints, target: address });
  if (forms.execute.test(rest)) acts.push({ kind: "run", taints, target: language });
  acts.push({ kind: "command", taints: NO_TAINTS, words: code.split(/\s+/) });
  return { acts, held: taints.size === 0 && address === "" ? NOTHING : { taints, address } };
}

/** Commands for the shell are followed by themselves; what is left of the line has blanks in their place. */
function takeCommands(
  code: string,
  { shell }: LineForms,
  followCommand: (text: string) => Taints,
): { readonly rest: string; readonly printed: Taints } {
  let printed = NO_TAINTS;
  const rest = code.replace(shell, (whole: string, ...groups: readonly unknown[]) => {
    const command = groups.find((group): group is string => typeof group === "string" && group !== code);
    if (command === undefined) return whole;
    printed = uniteTaints(printed, followCommand(command.replace(/\\(["'\\$`])/g, "$1")));
    return " ".repeat(whole.length);
  });
  return { rest, printed };
}

function textsOf(code: string): readonly string[] {
  return [...code.matchAll(TEXTS)].map(([, double, single]) => double ?? single ?? "");
}

function secretVariables(code: string, { variable }: LineForms): readonly string[] {
  const names = [...code.matchAll(variable)].flatMap(([, ...groups]) => groups.find(Boolean) ?? []);
  return names.filter(isSecretVariable);
}
