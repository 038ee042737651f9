/**
 * Lets a redirection to a place that cannot be written to fail as it does in a shell, with the command left out and the
 * script going on: the interpreter itself knows no file system that refuses, and would give up altogether. Each target
 * is first handed to a command of ours, and what that answers is the target.
 */
import { type Bash, type CustomCommand, defineCommand } from "just-bash/browser";

type Transform = Parameters<Bash["registerTransformPlugin"]>[0];
type Script = Parameters<Transform["transform"]>[0]["ast"];

const GUARD = "metier-redirect";
const WRITING = new Set([">", ">>", ">|", "&>", "&>>"]);
/** Makes the interpreter refuse a target, and is not shown. */
const NO_TARGET = "\0";

/** `whyNot` answers for an absolute path. */
export function createGuard(whyNot: (path: string) => Promise<string | undefined>): CustomCommand {
  return defineCommand(GUARD, async ([target = ""], { fs, cwd }) => {
    const reason = target === "" ? undefined : await whyNot(fs.resolvePath(cwd, target));
    const stdout = reason === undefined ? target : `${target}${reason}${NO_TARGET}`;
    return { stdout, stderr: "", exitCode: 0 };
  });
}

export const guardRedirections: Transform = {
  name: GUARD,
  transform: ({ ast }) => ({ ast: guardIn(ast) as Script }),
};

function guardIn(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(guardIn);
  if (typeof node !== "object" || node === null) return node;
  const inner = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, guardIn(value)]));
  return isWriting(inner) ? { ...inner, target: askGuard(inner.target) } : inner;
}

function isWriting({ type, operator, target }: Readonly<Record<string, unknown>>): boolean {
  const isWord = (target as { readonly type?: unknown } | undefined)?.type === "Word";
  return type === "Redirection" && WRITING.has(String(operator)) && isWord;
}

/** `"$(metier-redirect <word>)"`. */
function askGuard(word: unknown): unknown {
  const name = { type: "Word", parts: [{ type: "Literal", value: GUARD }] };
  const command = { type: "SimpleCommand", name, args: [word], assignments: [], redirections: [] };
  const pipeline = { type: "Pipeline", commands: [command], negated: false, timed: false, timePosix: false };
  const statement = { type: "Statement", pipelines: [pipeline], operators: [], background: false };
  const body = { type: "Script", statements: [statement] };
  const substitution = { type: "CommandSubstitution", body, legacy: false };
  return { type: "Word", parts: [{ type: "DoubleQuoted", parts: [substitution] }] };
}
