/** The variables of a file, by function: what each was given, and which marks its values carry. */
import type { Argument, Expression, Statement } from "./program.ts";
import { NO_TAINTS, type Taints, uniteTaints } from "./taint.ts";

export interface LocalFunction {
  readonly parameters: readonly string[];
  readonly body: readonly Statement[];
  readonly scope: Scope;
  returns: Taints;
}

export interface Variable {
  taints: Taints;
  /** What it was given, when that happened once. */
  value?: Expression;
  /** Where names in `value` are looked up. */
  valueScope?: Scope;
  /** Every assignment so far, by where it stands: the file is gone through more than once. */
  readonly assigned: Set<number>;
  /** The dotted name it was imported by. */
  full?: string;
  callable?: LocalFunction;
}

export class Scope {
  readonly #parent: Scope | undefined;
  readonly #variables = new Map<string, Variable>();

  constructor(parent?: Scope) {
    this.#parent = parent;
  }

  find(name: string): Variable | undefined {
    return this.#variables.get(name) ?? this.#parent?.find(name);
  }

  /** The variable of this scope, made when there is none. */
  own(name: string): Variable {
    const known = this.#variables.get(name);
    if (known) return known;
    const made: Variable = { taints: NO_TAINTS, assigned: new Set() };
    this.#variables.set(name, made);
    return made;
  }
}

export function addTaints(variable: Variable, taints: Taints): void {
  variable.taints = uniteTaints(variable.taints, taints);
}

/** The argument of that name, or else the one at the position. */
export function argumentOf(
  args: readonly Argument[],
  position: number,
  ...names: readonly string[]
): Expression | undefined {
  const named = args.find(({ name }) => name !== undefined && names.includes(name));
  return (named ?? args.filter(({ name }) => name === undefined)[position])?.value;
}
