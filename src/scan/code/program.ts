/**
 * Python and JavaScript in one small form: what is assigned, called, returned. Statements that only order others
 * (conditions, loops, classes) are gone; what is left is enough to follow values through a file.
 */
/** What a call is named that stands for a text read backwards; no real name has a blank. */
export const REVERSED = "reversed text";

interface Located {
  readonly from: number;
  readonly to: number;
}

export interface Argument {
  /** Of a keyword argument or an entry of a record. */
  readonly name?: string;
  readonly value: Expression;
}

export type Expression = Located &
  (
    | { readonly kind: "text"; readonly value: string }
    | { readonly kind: "name"; readonly name: string }
    /** `object.name` or `object["name"]`; `undefined` when the key is computed. */
    | {
        readonly kind: "member";
        readonly object: Expression;
        readonly name?: string;
        readonly key?: Expression;
      }
    | { readonly kind: "call"; readonly callee: Expression; readonly args: readonly Argument[] }
    /** Pieces of one text. */
    | { readonly kind: "joined"; readonly parts: readonly Expression[]; readonly separator: string }
    /** A list, a record. */
    | { readonly kind: "items"; readonly items: readonly Argument[] }
    | {
        readonly kind: "function";
        readonly parameters: readonly string[];
        readonly body: readonly Statement[];
      }
    /** Anything else with values in it. */
    | { readonly kind: "other"; readonly parts: readonly Expression[] }
  );

export type Statement = Located &
  (
    | {
        readonly kind: "assign";
        readonly targets: readonly Expression[];
        readonly value: Expression;
        /** It makes variables of its own instead of changing outer ones. */
        readonly declares: boolean;
        /** The target keeps what it had: `+=`, an item of a list. */
        readonly adds: boolean;
      }
    | { readonly kind: "import"; readonly local: string; readonly full: string }
    | {
        readonly kind: "function";
        readonly name: string;
        readonly parameters: readonly string[];
        readonly body: readonly Statement[];
      }
    | { readonly kind: "return"; readonly value: Expression }
    | { readonly kind: "do"; readonly value: Expression }
  );
