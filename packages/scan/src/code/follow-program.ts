/**
 * Follows values through Python or JavaScript programs. Takes every path and ignores order: it passes over the files
 * several times, until taints have reached everything they can. `known-calls.ts` says what calls do.
 */
import {
  type Act,
  type ActKind,
  type CodePart,
  hasTaint,
  NO_TAINTS,
  partWithin,
  type Taints,
  taint,
  uniteTaints,
  withoutTaint,
} from "./code-part.ts";
import {
  ADDING_METHODS,
  applyEffect,
  type Call,
  type CallEffect,
  type CallSite,
  effectOf,
  foldArgument,
  type MadeCall,
} from "./known-calls.ts";
import { isSecretVariable, secretKindOf } from "./known-secrets.ts";
import {
  type Argument,
  addTaints,
  CodeScope,
  type Expression,
  type LocalFunction,
  type Statement,
} from "./program.ts";
import { attributeName, NameResolver } from "./resolve-names.ts";

/** Takes code within code; returns the taints of its output. */
export type FollowWithin = (part: CodePart) => Taints;

export interface Program {
  readonly part: CodePart;
  readonly statements: readonly Statement[];
}

const ROUNDS = 4;

/** Programs that may import each other: a skill's scripts in one language. */
export function followPrograms(programs: readonly Program[], within: FollowWithin): readonly Act[] {
  const shared: SharedFunctions = new Map();
  const walks = programs.map(({ part }) => new ProgramWalk(part, within, shared));
  for (let round = 1; round <= ROUNDS; round++) {
    for (const [index, walk] of walks.entries()) walk.go(programs[index]?.statements ?? [], round === ROUNDS);
  }
  return walks.flatMap(({ acts }) => acts);
}

/** Functions of all files, by name. */
type SharedFunctions = Map<string, LocalFunction>;
type FunctionLike = { readonly parameters: readonly string[]; readonly body: readonly Statement[] };

const WHOLE_ENVIRONMENT = /^(?:os\.environ|os\.environb|process\.env|Bun\.env|Deno\.env)$/;
const ONE_VARIABLE = /^(?:os\.environ|process\.env|Bun\.env)\.(\w+)$/;
const ASKS_VARIABLE = /^(?:os\.getenv|os\.environ\.get|os\.environ\.pop|Deno\.env\.get)$/;
const ALL_VARIABLES = /^(?:(?:os\.environ|os\.environb)\.(?:copy|items|values)|Deno\.env\.toObject)$/;

class ProgramWalk implements CallSite {
  readonly acts: Act[] = [];
  readonly part: CodePart;
  resolver: NameResolver = new NameResolver();
  readonly #within: FollowWithin;
  readonly #shared: SharedFunctions;
  readonly #functions = new Map<FunctionLike, LocalFunction>();
  readonly #top = new CodeScope();
  /** For this round: each expression is evaluated once, however often it is needed. */
  #visited = new Map<Expression, Taints>();
  #entered = new Set<FunctionLike>();
  #isRecording = false;

  constructor(part: CodePart, within: FollowWithin, shared: SharedFunctions) {
    this.part = part;
    this.#within = within;
    this.#shared = shared;
  }

  go(statements: readonly Statement[], isRecording: boolean): void {
    this.#isRecording = isRecording;
    this.#visited = new Map();
    this.#entered = new Set();
    this.resolver = new NameResolver();
    this.#run(statements, this.#top);
  }

  /** The taints of the return value. */
  #run(statements: readonly Statement[], scope: CodeScope): Taints {
    return uniteTaints(...statements.map((statement) => this.#statement(statement, scope)));
  }

  #statement(statement: Statement, scope: CodeScope): Taints {
    switch (statement.kind) {
      case "import":
        scope.own(statement.local).full = statement.full;
        return NO_TAINTS;
      case "function": {
        const callable = this.#enter(statement, scope);
        scope.own(statement.name).callable = callable;
        this.#shared.set(statement.name, callable);
        return NO_TAINTS;
      }
      case "assign":
        this.#assign(statement, scope);
        return NO_TAINTS;
      case "return":
        return this.visit(statement.value, scope);
      case "do":
        this.visit(statement.value, scope);
        return NO_TAINTS;
    }
  }

  #enter(like: FunctionLike, outer: CodeScope): LocalFunction {
    const local = this.#functions.get(like) ?? { ...like, scope: new CodeScope(outer), returns: NO_TAINTS };
    if (this.#entered.has(like)) return local;
    this.#entered.add(like);
    this.#functions.set(like, local);
    for (const parameter of like.parameters) local.scope.own(parameter);
    local.returns = uniteTaints(local.returns, this.#run(like.body, local.scope));
    return local;
  }

  #assign({ targets, value, declares, adds, from }: Statement & { kind: "assign" }, scope: CodeScope): void {
    const taints = this.visit(value, scope);
    for (const target of targets) {
      const base = baseName(target);
      if (base === undefined) continue;
      const isAttribute = base.startsWith("self.");
      const outer = declares ? undefined : scope.find(base);
      const variable = isAttribute ? this.#top.own(base) : (outer ?? scope.own(base));
      addTaints(variable, taints);
      const isWhole = (target.kind === "name" || isAttribute) && targets.length === 1 && !adds;
      variable.assigned.add(isWhole ? from : -1);
      if (isWhole) {
        variable.value = value;
        variable.valueScope = scope;
      }
      if (variable.assigned.size > 1) delete variable.value;
      if (value.kind === "function") variable.callable = this.#enter(value, scope);
    }
  }

  visit(expression: Expression, scope: CodeScope): Taints {
    const kept = this.#visited.get(expression);
    if (kept !== undefined) return kept;
    const taints = this.#look(expression, scope);
    this.#visited.set(expression, taints);
    return taints;
  }

  #look(expression: Expression, scope: CodeScope): Taints {
    switch (expression.kind) {
      case "text":
        return secretKindOf(expression.value) ? taint("secret-path", expression.value) : NO_TAINTS;
      case "name": {
        const isEnvironment = WHOLE_ENVIRONMENT.test(this.resolver.name(expression, scope).name);
        const own = scope.find(expression.name)?.taints ?? NO_TAINTS;
        return isEnvironment ? uniteTaints(own, taint("environment")) : own;
      }
      case "member":
        return this.#lookAtMember(expression, scope);
      case "call":
        return this.#lookAtCall(expression, scope);
      case "joined": {
        const own = uniteTaints(...expression.parts.map((part) => this.visit(part, scope)));
        const { text } = this.resolver.text(expression, scope);
        return secretKindOf(text) ? uniteTaints(own, taint("secret-path", text)) : own;
      }
      case "items":
        return uniteTaints(...expression.items.map(({ value }) => this.visit(value, scope)));
      case "function":
        return this.#enter(expression, scope).returns;
      case "other":
        return uniteTaints(...expression.parts.map((part) => this.visit(part, scope)));
    }
  }

  #lookAtMember(expression: Expression & { kind: "member" }, scope: CodeScope): Taints {
    const { name } = this.resolver.name(expression, scope);
    if (WHOLE_ENVIRONMENT.test(name)) return taint("environment");
    const [, variable] = ONE_VARIABLE.exec(name) ?? [];
    if (variable !== undefined) return variableTaint(variable);
    const own = scope.find(attributeName(expression) ?? "");
    if (own) return own.taints;
    const object = this.visit(expression.object, scope);
    if (expression.key === undefined) return object;
    // One environment value, with an unknown name.
    return uniteTaints(withoutTaint(object, "environment"), this.visit(expression.key, scope));
  }

  #lookAtCall(call: Call, scope: CodeScope): Taints {
    const { callee } = call;
    const { name, isHidden } = this.resolver.name(callee, scope);
    const effect = effectOf(name);
    const object = callee.kind === "member" ? callee.object : callee;
    const receiver = callee.kind === "name" ? NO_TAINTS : this.visit(object, scope);
    const args = call.args.map((argument) => this.#lookAtArgument(argument, scope, effect));
    const given = uniteTaints(...args);
    if (ASKS_VARIABLE.test(name)) return variableTaint(foldArgument({ call, scope }, this, 0));
    if (ALL_VARIABLES.test(name)) return this.#takeEnvironment(call, name);
    const made: MadeCall = { call, scope, name, isHidden, receiver, args, given };
    const result = applyEffect(effect, made, this) ?? this.#callLocal(made) ?? uniteTaints(receiver, given);
    this.#passOn(call, scope, uniteTaints(receiver, result), effect);
    this.#addToReceiver(call, scope, given);
    return result;
  }

  /** Programs are started with a copy; going through all of them is something else. */
  #takeEnvironment(call: Call, name: string): Taints {
    if (!name.endsWith(".copy")) this.record("read", call, taint("environment"), { target: "environment" });
    return taint("environment");
  }

  /** A program's environment is not data sent to it. */
  #lookAtArgument({ name, value }: Argument, scope: CodeScope, effect: CallEffect | undefined): Taints {
    const starts = effect === "spawn" || effect === "shell";
    if (starts && name === "env") return NO_TAINTS;
    if (!starts || value.kind !== "items") return this.visit(value, scope);
    const items = value.items.filter((item) => item.name !== "env");
    return uniteTaints(...items.map((item) => this.visit(item.value, scope)));
  }

  /** A callback gets the call's taints: `fetch(url).then(eval)`, `.then((text) => …)`. */
  #passOn(call: Call, scope: CodeScope, taints: Taints, effect: CallEffect | undefined): void {
    for (const { value } of call.args) {
      if (value.kind === "function") {
        const { parameters, scope: inner } = this.#enter(value, scope);
        for (const parameter of parameters) addTaints(inner.own(parameter), taints);
      } else if (value.kind === "name" || value.kind === "member") {
        const { name } = this.resolver.name(value, scope);
        const isRun = effect === undefined && effectOf(name) === "evaluate";
        if (isRun && hasTaint(taints, "remote", "decoded"))
          this.record("run", call, taints, { target: name });
      }
    }
  }

  #addToReceiver({ callee }: Call, scope: CodeScope, given: Taints): void {
    if (callee.kind !== "member" || given.size === 0 || !ADDING_METHODS.test(callee.name ?? "")) return;
    const variable = scope.find(baseName(callee.object) ?? "");
    if (variable) addTaints(variable, given);
  }

  #callLocal({ call, scope, args, receiver }: MadeCall): Taints | undefined {
    const callable = this.#findCallable(call, scope);
    if (!callable) return undefined;
    const offset = callable.parameters[0] === "self" || callable.parameters[0] === "cls" ? 1 : 0;
    for (const [index, argument] of call.args.entries()) {
      const parameter = argument.name ?? callable.parameters[index + offset];
      if (parameter !== undefined) addTaints(callable.scope.own(parameter), args[index] ?? NO_TAINTS);
    }
    return uniteTaints(callable.returns, receiver);
  }

  /** A method is found by name alone, in any class; so is an export of another file of the skill. */
  #findCallable({ callee }: Call, scope: CodeScope): LocalFunction | undefined {
    const name = callee.kind === "name" || callee.kind === "member" ? callee.name : undefined;
    if (name === undefined) return undefined;
    const own = scope.find(name);
    const isElsewhere = own === undefined || own.full !== undefined;
    return own?.callable ?? (isElsewhere ? this.#shared.get(name) : undefined);
  }

  follow(call: Call, language: CodePart["language"], text: string): Taints {
    // Acts are recorded once, but its output is needed in every round.
    const inner = partWithin(this.part, call.from, language, text);
    return this.#within(this.#isRecording ? inner : { ...inner, isTrial: true });
  }

  record(kind: ActKind, { from, to }: Expression, taints: Taints, more: Partial<Act>): void {
    if (!this.#isRecording) return;
    const seen = this.part.text.slice(from, Math.min(to, from + 400));
    this.acts.push({ kind, part: this.part, at: from, seen, taints, ...more });
  }
}

/** The variable that a target changes: `a`, `a.b`, `a[0]`; attributes of `self` and `this` are separate variables. */
function baseName(target: Expression): string | undefined {
  if (target.kind === "name") return target.name;
  return target.kind === "member" ? (attributeName(target) ?? baseName(target.object)) : undefined;
}

function variableTaint(name: string): Taints {
  return isSecretVariable(name) ? taint("variable", name) : NO_TAINTS;
}
