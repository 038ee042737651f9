/**
 * Follows values through one program of Python or JavaScript and says what it does with them. Every path is taken and
 * order is not regarded: the file is gone through several times, until marks have reached whatever they can reach.
 */
import type { Act, ActKind } from "./act.ts";
import { type CodePart, partWithin } from "./code-part.ts";
import { ADDING_METHODS, type CallEffect, CREDENTIAL_NAMES, effectOf, SENT_NAMES } from "./known-calls.ts";
import type { Argument, Expression, Statement } from "./program.ts";
import { attributeName, foldText, resolveName } from "./resolve-names.ts";
import { addTaints, argumentOf, type LocalFunction, Scope, type Variable } from "./scope.ts";
import { isSecretVariable, secretKindOf } from "./sensitive-paths.ts";
import { hasTaint, NO_TAINTS, taint, type Taints, uniteTaints, withoutTaint } from "./taint.ts";

/** Takes code within code; the answer are the marks of what it prints. */
export type FollowWithin = (part: CodePart) => Taints;

const ROUNDS = 4;

export function followProgram(statements: readonly Statement[], part: CodePart, within: FollowWithin): readonly Act[] {
  const walk = new ProgramWalk(part, within);
  for (let round = 1; round <= ROUNDS; round++) walk.go(statements, round === ROUNDS);
  return walk.acts;
}

type Call = Expression & { readonly kind: "call" };
type FunctionLike = { readonly parameters: readonly string[]; readonly body: readonly Statement[] };

const WHOLE_ENVIRONMENT = /^(?:os\.environ|os\.environb|process\.env|Bun\.env|Deno\.env)$/;
const ONE_VARIABLE = /^(?:os\.environ|process\.env|Bun\.env)\.(\w+)$/;
const ASKS_VARIABLE = /^(?:os\.getenv|os\.environ\.get|os\.environ\.pop|Deno\.env\.get)$/;
const ALL_VARIABLES = /^(?:(?:os\.environ|os\.environb)\.(?:copy|items|values)|Deno\.env\.toObject)$/;

class ProgramWalk {
  readonly acts: Act[] = [];
  readonly #part: CodePart;
  readonly #within: FollowWithin;
  readonly #functions = new Map<FunctionLike, LocalFunction>();
  readonly #top = new Scope();
  #isRecording = false;

  constructor(part: CodePart, within: FollowWithin) {
    this.#part = part;
    this.#within = within;
  }

  go(statements: readonly Statement[], isRecording: boolean): void {
    this.#isRecording = isRecording;
    this.#run(statements, this.#top);
  }

  /** The marks of what is returned. */
  #run(statements: readonly Statement[], scope: Scope): Taints {
    return uniteTaints(...statements.map((statement) => this.#statement(statement, scope)));
  }

  #statement(statement: Statement, scope: Scope): Taints {
    switch (statement.kind) {
      case "import":
        scope.own(statement.local).full = statement.full;
        return NO_TAINTS;
      case "function": {
        scope.own(statement.name).callable = this.#enter(statement, scope);
        return NO_TAINTS;
      }
      case "assign":
        this.#assign(statement, scope);
        return NO_TAINTS;
      case "return":
        return this.#visit(statement.value, scope);
      case "do":
        this.#visit(statement.value, scope);
        return NO_TAINTS;
    }
  }

  #enter(like: FunctionLike, outer: Scope): LocalFunction {
    const known = this.#functions.get(like);
    const local = known ?? { ...like, scope: new Scope(outer), returns: NO_TAINTS };
    this.#functions.set(like, local);
    for (const parameter of like.parameters) local.scope.own(parameter);
    local.returns = uniteTaints(local.returns, this.#run(like.body, local.scope));
    return local;
  }

  #assign({ targets, value, declares, adds, from }: Statement & { kind: "assign" }, scope: Scope): void {
    const taints = this.#visit(value, scope);
    for (const target of targets) {
      const base = baseName(target);
      if (base === undefined) continue;
      const isAttribute = base.startsWith("self.");
      const variable = isAttribute ? this.#top.own(base) : ((declares ? undefined : scope.find(base)) ?? scope.own(base));
      addTaints(variable, taints);
      if ((target.kind === "name" || isAttribute) && targets.length === 1) remember(variable, value, scope, adds ? -1 : from);
      else variable.assigned.add(-1);
      if (variable.assigned.size > 1) delete variable.value;
      if (value.kind === "function" && target.kind === "name") variable.callable = this.#enter(value, scope);
    }
  }

  #visit(expression: Expression, scope: Scope): Taints {
    switch (expression.kind) {
      case "text":
        return secretKindOf(expression.value) ? taint("secret-path", expression.value) : NO_TAINTS;
      case "name":
        return this.#visitName(expression, scope);
      case "member":
        return this.#visitMember(expression, scope);
      case "call":
        return this.#visitCall(expression, scope);
      case "joined": {
        const own = uniteTaints(...expression.parts.map((part) => this.#visit(part, scope)));
        const { text } = foldText(expression, scope);
        return secretKindOf(text) ? uniteTaints(own, taint("secret-path", text)) : own;
      }
      case "items":
        return uniteTaints(...expression.items.map(({ value }) => this.#visit(value, scope)));
      case "function":
        return this.#enter(expression, scope).returns;
      case "other":
        return uniteTaints(...expression.parts.map((part) => this.#visit(part, scope)));
    }
  }

  #visitName(expression: Expression & { kind: "name" }, scope: Scope): Taints {
    const variable = scope.find(expression.name);
    const { name } = resolveName(expression, scope);
    const known = variable?.taints ?? NO_TAINTS;
    return WHOLE_ENVIRONMENT.test(name) ? uniteTaints(known, taint("environment")) : known;
  }

  #visitMember(expression: Expression & { kind: "member" }, scope: Scope): Taints {
    const { name } = resolveName(expression, scope);
    if (WHOLE_ENVIRONMENT.test(name)) return taint("environment");
    const [, variable] = ONE_VARIABLE.exec(name) ?? [];
    if (variable !== undefined) return variableTaint(variable);
    const attribute = attributeName(expression);
    const own = attribute === undefined ? undefined : scope.find(attribute);
    if (own) return own.taints;
    const key = expression.key && expression.name === undefined ? this.#visit(expression.key, scope) : NO_TAINTS;
    const object = this.#visit(expression.object, scope);
    // One value out of the environment, by a name that is not known here.
    return expression.key ? uniteTaints(withoutTaint(object, "environment"), key) : object;
  }

  #visitCall(call: Call, scope: Scope): Taints {
    const { name, isHidden } = resolveName(call.callee, scope);
    const effect = effectOf(name);
    const receiver = call.callee.kind === "member" ? this.#visit(call.callee.object, scope) : this.#visitCallee(call, scope);
    const args = call.args.map((argument) => this.#visitArgument(argument, scope, effect));
    const given = uniteTaints(...args);
    if (ASKS_VARIABLE.test(name)) return variableTaint(foldArgument(call, 0, scope));
    if (ALL_VARIABLES.test(name)) return taint("environment");
    const result = this.#apply(effect, { call, scope, name, isHidden, receiver, args, given });
    this.#passOn(call, scope, uniteTaints(receiver, result), effect);
    this.#addToReceiver(call, scope, given);
    return result;
  }

  #visitCallee(call: Call, scope: Scope): Taints {
    return call.callee.kind === "name" ? NO_TAINTS : this.#visit(call.callee, scope);
  }

  /** What a program is given as its environment is not what it is sent. */
  #visitArgument({ name, value }: Argument, scope: Scope, effect: CallEffect | undefined): Taints {
    const starts = effect === "spawn" || effect === "shell";
    if (starts && name === "env") return NO_TAINTS;
    if (value.kind === "items" && starts) {
      return uniteTaints(...value.items.map((item) => this.#visitArgument(item, scope, item.name === undefined ? undefined : effect)));
    }
    return this.#visit(value, scope);
  }

  /** A function that is given along gets what the call has: `fetch(url).then(eval)`, `.then((text) => …)`. */
  #passOn(call: Call, scope: Scope, taints: Taints, effect: CallEffect | undefined): void {
    for (const { value } of call.args) {
      if (value.kind === "function") {
        const { parameters, scope: inner } = this.#enter(value, scope);
        for (const parameter of parameters) addTaints(inner.own(parameter), taints);
      } else if (value.kind === "name" || value.kind === "member") {
        const { name } = resolveName(value, scope);
        const isRun = effectOf(name) === "evaluate" && effect === undefined;
        if (isRun && hasTaint(taints, "remote", "decoded")) this.#record("run", call, taints, { target: name });
      }
    }
  }

  #addToReceiver({ callee }: Call, scope: Scope, given: Taints): void {
    if (callee.kind !== "member" || given.size === 0 || !ADDING_METHODS.has(callee.name ?? "")) return;
    const base = baseName(callee.object);
    const variable = base === undefined ? undefined : scope.find(base);
    if (variable) addTaints(variable, given);
  }

  #apply(effect: CallEffect | undefined, made: MadeCall): Taints {
    const { call, scope, receiver, args, given, name } = made;
    const first = args[0] ?? NO_TAINTS;
    switch (effect) {
      case "evaluate":
      case "unpack":
        return this.#evaluate(made, effect);
      case "shell":
      case "spawn":
        return this.#start(made, effect);
      case "request":
        return this.#request(made);
      case "send":
        this.#record("send", call, uniteTaints(given, receiver), { target: foldArgument(call, 0, scope) });
        return NO_TAINTS;
      case "look-up":
        this.#record("look-up", call, given, { target: foldArgument(call, 0, scope) });
        return NO_TAINTS;
      case "decode":
        return uniteTaints(given, receiver, taint("decoded"));
      case "open":
      case "read":
      case "write":
      case "copy":
      case "delete":
        return this.#touch(made, effect);
      case "nothing":
        return NO_TAINTS;
      default:
        return this.#callLocal(made) ?? uniteTaints(receiver, name.startsWith("print") ? first : given);
    }
  }

  #callLocal({ call, scope, args, receiver }: MadeCall): Taints | undefined {
    const callable = call.callee.kind === "name" ? scope.find(call.callee.name)?.callable : this.#method(call, scope);
    if (!callable) return undefined;
    const offset = callable.parameters[0] === "self" || callable.parameters[0] === "cls" ? 1 : 0;
    for (const [index, argument] of call.args.entries()) {
      const parameter = argument.name ?? callable.parameters[index + offset];
      if (parameter !== undefined) addTaints(callable.scope.own(parameter), args[index] ?? NO_TAINTS);
    }
    return uniteTaints(callable.returns, receiver);
  }

  /** `self.name(…)` and `this.name(…)`: whichever class the method belongs to. */
  #method({ callee }: Call, scope: Scope): LocalFunction | undefined {
    if (callee.kind !== "member" || callee.name === undefined) return undefined;
    const isOwn = callee.object.kind === "name" && /^(?:self|cls)$/.test(callee.object.name);
    return isOwn || callee.object.kind === "other" ? scope.find(callee.name)?.callable : undefined;
  }

  #evaluate({ call, scope, name, isHidden, args, given }: MadeCall, effect: "evaluate" | "unpack"): Taints {
    const code = argumentOf(call.args, name === "Function" ? call.args.length - 1 : 0);
    const folded = code && foldText(code, scope);
    const known = folded?.isWhole ? folded.text : undefined;
    const taints = name === "Function" ? given : (args[0] ?? NO_TAINTS);
    const isCode = effect === "evaluate" && name !== "compile";
    if (isCode || hasTaint(taints, "remote", "decoded")) {
      this.#record("run", call, taints, { target: name, isHidden, isBuilt: folded?.isBuilt ?? false, ...(known !== undefined && { content: known }) });
    }
    if (known !== undefined && isCode) this.#followWithin(call, this.#part.language, known);
    return name === "compile" ? given : taints;
  }

  #start({ call, scope, name, isHidden, args }: MadeCall, effect: "shell" | "spawn"): Taints {
    const command = argumentOf(call.args, 0, "args", "cmd", "command");
    const taints = uniteTaints(...args);
    if (command === undefined) return taints;
    const list = call.args.find(({ value }) => value.kind === "items" && value.items.every((item) => item.name === undefined))?.value;
    const texts = effect === "spawn" ? wordsOf(command, list) : [command];
    const folded = texts.map((text) => foldText(text, scope));
    const isShell = effect === "shell" || (list === undefined && /\s/.test(folded[0]?.text ?? ""));
    const content = isShell ? (folded[0]?.text ?? "") : folded.map(({ text }) => quote(text)).join(" ");
    this.#record("run", call, withoutTaint(taints, "environment"), { target: name, isHidden, content, isBuilt: folded[0]?.isBuilt ?? false });
    return uniteTaints(taints, this.#followWithin(call, "shell", content));
  }

  #followWithin(call: Call, language: CodePart["language"], text: string): Taints {
    // Once is enough for acts, but what it prints is needed in every round.
    const inner = partWithin(this.#part, call.from, language, text);
    return this.#within(this.#isRecording ? inner : { ...inner, isTrial: true });
  }

  #request({ call, scope, name, args, receiver }: MadeCall): Taints {
    const url = foldArgument(call, /\.request$/.test(name) && !/^https?\./.test(name) ? 1 : 0, scope, "url");
    this.#record("fetch", call, NO_TAINTS, { target: url });
    const sent: Taints[] = [];
    let carries = /\.(?:post|put|patch)$/.test(name);
    for (const [index, argument] of call.args.entries()) {
      const taints = args[index] ?? NO_TAINTS;
      if (argument.name !== undefined && CREDENTIAL_NAMES.has(argument.name)) sent.push(withoutTaint(taints, "variable"));
      else if (argument.value.kind === "items" && argument.name === undefined) {
        carries ||= argument.value.items.some((item) => SENT_NAMES.has(item.name ?? "") || isPost(item));
        sent.push(this.#sentBy(argument.value.items, scope));
      } else {
        carries ||= argument.name !== undefined && SENT_NAMES.has(argument.name);
        sent.push(taints);
      }
    }
    const taints = uniteTaints(...sent, /\(\)\.\w+$/.test(name) ? withoutTaint(receiver, "variable") : NO_TAINTS);
    if (carries || hasTaint(taints, "secret", "environment", "variable")) this.#record("send", call, taints, { target: url });
    return uniteTaints(taint("remote", url), withoutTaint(taints, "secret-path", "variable"));
  }

  #sentBy(items: readonly Argument[], scope: Scope): Taints {
    const own = items.map(({ name, value }) => {
      const taints = this.#visit(value, scope);
      return name !== undefined && CREDENTIAL_NAMES.has(name) ? withoutTaint(taints, "variable") : taints;
    });
    return uniteTaints(...own);
  }

  #touch({ call, scope, name, args, receiver, given }: MadeCall, effect: "open" | "read" | "write" | "copy" | "delete"): Taints {
    const isMethod = call.callee.kind === "member" && /Path\(\)\.\w+$|\.(?:read|write)_(?:text|bytes)$/.test(name);
    const subject = isMethod && call.callee.kind === "member" ? call.callee.object : argumentOf(call.args, 0, "file", "path");
    const { text: path } = subject ? foldText(subject, scope) : { text: "" };
    const pathTaints = isMethod ? receiver : (args[0] ?? NO_TAINTS);
    const mode = effect === "open" ? foldArgument(call, isMethod ? 0 : 1, scope, "mode", "flags") : "";
    const isWriting = effect === "write" || /^[wax]|\+/.test(mode) || /WriteStream$/.test(name);
    if (effect === "delete") this.#record("delete", call, NO_TAINTS, { target: path, content: name });
    else if (isWriting) this.#record("write", call, given, { target: path, ...contentOf(call, isMethod ? 0 : 1, scope) });
    else if (effect === "copy") this.#record("write", call, given, { target: foldArgument(call, 1, scope) });
    const isRead = !isWriting && effect !== "delete" && (hasTaint(pathTaints, "secret-path") || secretKindOf(path) !== undefined);
    if (/^(?:keyring|browser_cookie3|browsercookie)\./.test(name)) return this.#readSecret(call, name);
    return isRead ? this.#readSecret(call, secretKindOf(path) ? path : firstDetail(pathTaints)) : withoutTaint(pathTaints, "secret-path");
  }

  #readSecret(call: Call, path: string): Taints {
    const taints = taint("secret", path);
    this.#record("read", call, taints, { target: path });
    return taints;
  }

  #record(kind: ActKind, { from, to }: Expression, taints: Taints, more: Partial<Act>): void {
    if (!this.#isRecording) return;
    const seen = this.#part.text.slice(from, Math.min(to, from + 400));
    this.acts.push({ kind, part: this.#part, at: from, seen, taints, ...more });
  }
}

interface MadeCall {
  readonly call: Call;
  readonly scope: Scope;
  readonly name: string;
  readonly isHidden: boolean;
  readonly receiver: Taints;
  /** In the order of the call's. */
  readonly args: readonly Taints[];
  readonly given: Taints;
}

function remember(variable: Variable, value: Expression, scope: Scope, at: number): void {
  variable.assigned.add(at);
  variable.value = value;
  variable.valueScope = scope;
}

/** The variable that a target changes: `a`, `a.b`, `a[0]`; attributes of `self` and `this` are variables of their own. */
function baseName(target: Expression): string | undefined {
  if (target.kind === "name") return target.name;
  return target.kind === "member" ? (attributeName(target) ?? baseName(target.object)) : undefined;
}

function variableTaint(name: string): Taints {
  return isSecretVariable(name) ? taint("variable", name) : NO_TAINTS;
}

function foldArgument(call: Call, position: number, scope: Scope, ...names: readonly string[]): string {
  const argument = argumentOf(call.args, position, ...names);
  return argument ? foldText(argument, scope).text : "";
}

function contentOf(call: Call, position: number, scope: Scope): { readonly content?: string } {
  const argument = argumentOf(call.args, position, "data");
  return argument ? { content: foldText(argument, scope).text } : {};
}

function firstDetail(taints: Taints): string {
  const mark = [...taints].find((one) => one.startsWith("secret-path "));
  return mark?.slice("secret-path ".length) ?? "";
}

/** `["ls", "-l"]`, or a program and a list of its arguments. */
function wordsOf(command: Expression, list: Expression | undefined): readonly Expression[] {
  const items = list?.kind === "items" ? list.items.map(({ value }) => value) : [];
  return command.kind === "items" ? command.items.map(({ value }) => value) : [command, ...items];
}

function isPost({ name, value }: Argument): boolean {
  return name === "method" && value.kind === "text" && /^(?:post|put|patch)$/i.test(value.value);
}

/** As one word of a shell command. */
function quote(word: string): string {
  return /^[\w./:=@%+,~-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
