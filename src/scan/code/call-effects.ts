/** What the calls of a program do: which acts they are, and which marks their results carry. */
import type { Act, ActKind } from "./act.ts";
import type { CodePart } from "./code-part.ts";
import { type CallEffect, CREDENTIAL_NAMES, SENT_NAMES } from "./known-calls.ts";
import type { Argument, Expression } from "./program.ts";
import type { FoldedText, NameResolver } from "./resolve-names.ts";
import { argumentOf, type Scope } from "./scope.ts";
import { secretKindOf } from "./sensitive-paths.ts";
import { hasTaint, NO_TAINTS, type Taints, taint, taintDetails, uniteTaints, withoutTaint } from "./taint.ts";

export type Call = Expression & { readonly kind: "call" };

/** A call whose parts were looked at. */
export interface MadeCall {
  readonly call: Call;
  readonly scope: Scope;
  /** Resolved. */
  readonly name: string;
  readonly isHidden: boolean;
  /** Marks of what it is called on. */
  readonly receiver: Taints;
  /** Marks of the arguments, in the order of the call's. */
  readonly args: readonly Taints[];
  /** Of all arguments together. */
  readonly given: Taints;
}

/** The walk that a call belongs to. */
export interface CallSite {
  readonly part: CodePart;
  readonly resolver: NameResolver;
  visit(expression: Expression, scope: Scope): Taints;
  /** Code within this code; answers the marks of what it prints. */
  follow(call: Call, language: CodePart["language"], text: string): Taints;
  record(kind: ActKind, place: Expression, taints: Taints, more: Partial<Act>): void;
}

/** `undefined` when nothing is known about the call. */
export function applyEffect(
  effect: CallEffect | undefined,
  made: MadeCall,
  site: CallSite,
): Taints | undefined {
  const { call, receiver, given } = made;
  switch (effect) {
    case undefined:
      return undefined;
    case "evaluate":
    case "unpack":
    case "load":
      return evaluate(made, site, effect);
    case "shell":
    case "spawn":
      return start(made, site, effect);
    case "request":
      return request(made, site);
    case "send":
      site.record("send", call, uniteTaints(given, receiver), { target: foldArgument(made, site, 0) });
      return NO_TAINTS;
    case "look-up":
      site.record("look-up", call, given, { target: foldArgument(made, site, 0) });
      return NO_TAINTS;
    case "decode":
      return uniteTaints(given, receiver, taint("decoded"));
    case "convert": {
      const isEncoded = /^(?:base64(?:url)?|hex)$/.test(foldArgument(made, site, 1));
      return isEncoded ? uniteTaints(given, taint("decoded")) : given;
    }
    case "spy":
      return readSecret(call, made.name, site);
    case "delete":
      site.record("delete", call, NO_TAINTS, { target: foldArgument(made, site, 0), content: made.name });
      return NO_TAINTS;
    case "open":
    case "read":
    case "write":
    case "copy":
      return touch(made, site, effect);
    case "nothing":
      return NO_TAINTS;
  }
}

/** The argument at a position, or by name, as far as it is known. */
export function foldArgument(
  { call, scope }: Pick<MadeCall, "call" | "scope">,
  { resolver }: Pick<CallSite, "resolver">,
  position: number,
  ...names: readonly string[]
): string {
  const argument = argumentOf(call.args, position, ...names);
  return argument ? resolver.text(argument, scope).text : "";
}

function evaluate(
  { call, scope, name, isHidden, args, given }: MadeCall,
  site: CallSite,
  effect: "evaluate" | "unpack" | "load",
): Taints {
  const isConstructor = name === "Function";
  const code = argumentOf(call.args, isConstructor ? call.args.length - 1 : 0);
  const folded: FoldedText | undefined = code && site.resolver.text(code, scope);
  const content = folded?.isWhole ? folded.text : undefined;
  const taints = isConstructor ? given : (args[0] ?? NO_TAINTS);
  const isCode = effect === "evaluate" && name !== "compile";
  if (isCode || hasTaint(taints, "remote", "decoded")) {
    const isBuilt = folded?.isBuilt ?? false;
    const known = content === undefined ? {} : { content };
    site.record("run", call, taints, { target: name, isHidden, isBuilt, ...known });
  }
  if (content !== undefined && isCode) site.follow(call, site.part.language, content);
  return name === "compile" ? given : taints;
}

function start(
  { call, scope, name, isHidden, args }: MadeCall,
  site: CallSite,
  effect: "shell" | "spawn",
): Taints {
  const command = argumentOf(call.args, 0, "args", "cmd", "command");
  const taints = uniteTaints(...args);
  if (command === undefined) return taints;
  const list = call.args.map(({ value }) => value).find(isPlainList);
  const texts = effect === "spawn" ? wordsOf(command, list) : [command];
  const folded = texts.map((text) => site.resolver.text(text, scope));
  const [first] = folded;
  const isLine = effect === "shell" || (list === undefined && /\s/.test(first?.text ?? ""));
  const content = isLine ? (first?.text ?? "") : folded.map(({ text }) => quote(text)).join(" ");
  const isBuilt = first?.isBuilt ?? false;
  site.record("run", call, withoutTaint(taints, "environment"), { target: name, isHidden, content, isBuilt });
  return uniteTaints(taints, site.follow(call, "shell", content));
}

function isPlainList(value: Expression): boolean {
  return value.kind === "items" && value.items.every(({ name }) => name === undefined);
}

/** `["ls", "-l"]`, or a program and a list of its arguments. */
function wordsOf(command: Expression, list: Expression | undefined): readonly Expression[] {
  const items = list?.kind === "items" ? list.items.map(({ value }) => value) : [];
  return command.kind === "items" ? items : [command, ...items];
}

/** As one word of a shell command. */
function quote(word: string): string {
  return /^[\w./:=@%+,~-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function request(made: MadeCall, site: CallSite): Taints {
  const { call, scope, name, args, receiver } = made;
  const isMethodFirst = name.endsWith(".request") && !/^https?\./.test(name);
  const url = foldArgument(made, site, isMethodFirst ? 1 : 0, "url");
  site.record("fetch", call, NO_TAINTS, { target: url });
  const sent = call.args.map((argument, index) => {
    const { value } = argument;
    if (value.kind !== "items" || argument.name !== undefined)
      return sentBy(argument, args[index] ?? NO_TAINTS);
    return uniteTaints(...value.items.map((item) => sentBy(item, site.visit(item.value, scope))));
  });
  const isSession = /\(\)\.\w+$/.test(name);
  const taints = uniteTaints(...sent, isSession ? withoutTaint(receiver, "variable") : NO_TAINTS);
  if (carriesData(made) || hasTaint(taints, "secret", "environment", "variable")) {
    site.record("send", call, taints, { target: url });
  }
  return uniteTaints(taint("remote", url), withoutTaint(taints, "secret-path", "variable"));
}

/** Credentials belong into headers: a single variable there is how services are used. */
function sentBy({ name = "" }: Argument, taints: Taints): Taints {
  return CREDENTIAL_NAMES.has(name) ? withoutTaint(taints, "variable") : taints;
}

function carriesData({ call, name }: MadeCall): boolean {
  if (/\.(?:post|put|patch)$/.test(name)) return true;
  return call.args.some((argument) => {
    const items =
      argument.value.kind === "items" && argument.name === undefined ? argument.value.items : [argument];
    return items.some((item) => SENT_NAMES.has(item.name ?? "") || isPost(item));
  });
}

function isPost({ name, value }: Argument): boolean {
  return name === "method" && value.kind === "text" && /^(?:post|put|patch)$/i.test(value.value);
}

/** Files that are opened, read, written or copied: `open(path, mode)`, `Path(path).read_text()`, `fs.writeFile(path, …)`. */
function touch(made: MadeCall, site: CallSite, effect: "open" | "read" | "write" | "copy"): Taints {
  const { call, scope, name, args, receiver, given } = made;
  const { callee } = call;
  const isMethod = /Path\(\)\.\w+$|\.(?:read|write)_(?:text|bytes)$/.test(name);
  const subject =
    isMethod && callee.kind === "member" ? callee.object : argumentOf(call.args, 0, "file", "path");
  const path = subject ? site.resolver.text(subject, scope).text : "";
  const pathTaints = isMethod ? receiver : (args[0] ?? NO_TAINTS);
  const next = isMethod ? 0 : 1;
  const mode = effect === "open" ? foldArgument(made, site, next, "mode", "flags") : "";
  if (effect === "write" || /^[wax]|\+/.test(mode) || name.endsWith("WriteStream")) {
    const content = effect === "write" ? foldArgument(made, site, next, "data") : "";
    site.record("write", call, given, { target: path, content });
    return withoutTaint(pathTaints, "secret-path");
  }
  if (effect === "copy") site.record("write", call, given, { target: foldArgument(made, site, 1) });
  if (secretKindOf(path) !== undefined) return readSecret(call, path, site);
  const [named] = taintDetails(pathTaints, "secret-path");
  return named === undefined ? withoutTaint(pathTaints, "secret-path") : readSecret(call, named, site);
}

function readSecret(call: Call, path: string, site: CallSite): Taints {
  const taints = taint("secret", path);
  site.record("read", call, taints, { target: path });
  return taints;
}
