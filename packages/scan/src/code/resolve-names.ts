/** Resolves a program's names and strings: follows aliases to their modules and joins constants. */
import { UNKNOWN } from "./code-part.ts";
import { moduleName } from "./lower-javascript.ts";
import { argumentOf, type CodeScope, type Expression, REVERSED, type Variable } from "./program.ts";

interface ResolvedName {
  /** Dotted: `child_process.exec`, `requests.Session().post`; `?` for unknown parts. */
  readonly name: string;
  /** It was built from pieces, so that it cannot be read at a glance. */
  readonly isHidden: boolean;
}

export interface FoldedText {
  /** With `UNKNOWN` for unknown parts. */
  readonly text: string;
  readonly isWhole: boolean;
  /** Built or decoded instead of written down. */
  readonly isBuilt: boolean;
}

type Call = Expression & { readonly kind: "call" };

const NO_NAME: ResolvedName = { name: "?", isHidden: false };
const NO_TEXT: FoldedText = { text: UNKNOWN, isWhole: false, isBuilt: false };
const MOST_DEPTH = 100;
const MOST_TEXT = 65_536;
const MOST_NAME = 300;

const LOADERS =
  /^(?:require|import|__import__|importlib\.import_module|process\.mainModule\.require|module\.require)$/;
const GLOBALS =
  /^(?:builtins|__builtins__|globalThis|window|global|globals\(\)|__builtins__\.__dict__|vars\(\)|locals\(\))\./;
const HOME_VARIABLES = /^(?:os\.environ|process\.env)\.(?:HOME|USERPROFILE)$/;

/** `self.name` for an attribute of `self` or `this`. */
export function attributeName(member: Expression & { readonly kind: "member" }): string | undefined {
  const { object, name } = member;
  const isOwn = object.kind === "name" && /^(?:self|this|cls)$/.test(object.name);
  return isOwn && name !== undefined ? `self.${name}` : undefined;
}

/** Caches answers, since every enclosing expression asks again. One per round. */
export class NameResolver {
  readonly #names = new Map<Expression, ResolvedName>();
  readonly #texts = new Map<Expression, FoldedText>();
  #depth = 0;

  name(expression: Expression, scope: CodeScope): ResolvedName {
    return this.#remember(this.#names, expression, NO_NAME, () => this.#resolve(expression, scope));
  }

  text(expression: Expression, scope: CodeScope): FoldedText {
    return this.#remember(this.#texts, expression, NO_TEXT, () => this.#fold(expression, scope));
  }

  /** What refers to itself is unknown. */
  #remember<T>(known: Map<Expression, T>, expression: Expression, unknown: T, find: () => T): T {
    const kept = known.get(expression);
    if (kept !== undefined) return kept;
    if (this.#depth >= MOST_DEPTH) return unknown;
    known.set(expression, unknown);
    this.#depth++;
    const found = find();
    this.#depth--;
    known.set(expression, found);
    return found;
  }

  #resolve(expression: Expression, scope: CodeScope): ResolvedName {
    switch (expression.kind) {
      case "name":
        return this.#resolveVariable(expression.name, scope);
      case "member": {
        const attribute = attributeName(expression);
        if (attribute !== undefined && scope.find(attribute)) return this.#resolveVariable(attribute, scope);
        const object = this.name(expression.object, scope);
        const key = expression.key && this.text(expression.key, scope);
        const name = expression.name ?? (key?.isWhole ? key.text : "?");
        const isPutTogether = expression.key?.kind !== "text" && key?.isWhole === true && key.isBuilt;
        return plainName(`${object.name}.${name}`, object.isHidden || isPutTogether);
      }
      case "call":
        return this.#resolveCall(expression, scope);
      case "text":
      case "joined":
        return { name: "text", isHidden: false };
      default:
        return NO_NAME;
    }
  }

  #resolveVariable(name: string, scope: CodeScope): ResolvedName {
    const variable = scope.find(name);
    if (variable === undefined) return { name, isHidden: false };
    if (variable.full !== undefined) return plainName(variable.full, false);
    if (variable.value !== undefined) return this.name(variable.value, variable.valueScope ?? scope);
    return { name: variable.callable ? `local.${name}` : "?", isHidden: false };
  }

  #resolveCall({ callee, args }: Call, scope: CodeScope): ResolvedName {
    const { name, isHidden } = this.name(callee, scope);
    const [first, second] = [argumentOf(args, 0), argumentOf(args, 1)];
    if (LOADERS.test(name) && first) {
      const { text, isWhole, isBuilt } = this.text(first, scope);
      if (isWhole) return { name: moduleName(text), isHidden: isHidden || isBuilt };
    }
    if (name === "getattr" && first && second) {
      const object = this.name(first, scope);
      const key = this.text(second, scope);
      const isPutTogether = key.isWhole && key.isBuilt;
      return plainName(`${object.name}.${key.isWhole ? key.text : "?"}`, object.isHidden || isPutTogether);
    }
    if (/^(?:util\.promisify|functools\.partial)$/.test(name) && first) return this.name(first, scope);
    return { name: `${name}()`, isHidden };
  }

  #fold(expression: Expression, scope: CodeScope): FoldedText {
    switch (expression.kind) {
      case "text":
        return known(expression.value);
      case "joined":
        return this.#join(expression.parts, expression.separator, scope);
      case "name":
        return this.#foldVariable(scope.find(expression.name), scope);
      case "member": {
        const attribute = attributeName(expression);
        if (attribute !== undefined) return this.#foldVariable(scope.find(attribute), scope);
        return HOME_VARIABLES.test(this.name(expression, scope).name) ? known("~") : NO_TEXT;
      }
      case "call":
        return this.#foldCall(expression, scope);
      default:
        return NO_TEXT;
    }
  }

  #foldVariable(variable: Variable | undefined, scope: CodeScope): FoldedText {
    return variable?.value ? this.text(variable.value, variable.valueScope ?? scope) : NO_TEXT;
  }

  /** Several short literals in a row hide their text; one text over several lines does not. */
  #join(parts: readonly Expression[], separator: string, scope: CodeScope): FoldedText {
    const folded = parts.map((part) => this.text(part, scope));
    const text = folded.map((part) => part.text).join(separator);
    const isPieced = separator === "" && parts.length > 1 && text.length < 40;
    return {
      text: text.slice(0, MOST_TEXT),
      isWhole: folded.every((part) => part.isWhole),
      isBuilt: isPieced || folded.some((part) => part.isBuilt),
    };
  }

  #foldCall(call: Call, scope: CodeScope): FoldedText {
    const { name } = this.name(call.callee, scope);
    const values = call.args.map(({ value }) => value);
    const receiver = call.callee.kind === "member" ? call.callee.object : undefined;
    const fold = (expression: Expression | undefined): FoldedText =>
      expression ? this.text(expression, scope) : NO_TEXT;
    if (/^(?:os\.homedir|(?:pathlib\.)?Path\.home)$/.test(name)) return known("~");
    if (/^(?:os\.path\.join|path\.(?:join|resolve)|(?:pathlib\.)?(?:Pure)?Path)$/.test(name)) {
      return this.#join(values, "/", scope);
    }
    if (/^(?:os\.path\.(?:expanduser|expandvars|abspath|realpath)|str|String|bytes)$/.test(name)) {
      const folded = fold(values[0]);
      return { ...folded, text: folded.text.replace(/^\$(?:HOME\b|\{HOME\})/, "~") };
    }
    if (/^(?:os\.getenv|os\.environ\.get)$/.test(name)) {
      return fold(values[0]).text === "HOME" ? known("~") : NO_TEXT;
    }
    if (receiver === undefined) return decodeCall(name, call, fold);
    if (name.endsWith(".reverse().join")) return reverseText(fold(innermost(receiver)));
    if (
      /\.(?:expanduser|resolve|absolute|decode|encode|strip|toString|as_posix|lower|format|trim)$/.test(name)
    ) {
      return fold(receiver);
    }
    if (name.endsWith(".joinpath")) return this.#join([receiver, ...values], "/", scope);
    return name.endsWith(".join") ? this.#foldJoin(call, receiver, scope) : decodeCall(name, call, fold);
  }

  /** `"".join(["a", "b"])` and `["a", "b"].join("")`. */
  #foldJoin(call: Call, receiver: Expression, scope: CodeScope): FoldedText {
    const first = argumentOf(call.args, 0);
    const [list, separator] = receiver.kind === "items" ? [receiver, first] : [first, receiver];
    const between = separator ? this.text(separator, scope) : known("");
    if (list?.kind !== "items" || !between.isWhole) return NO_TEXT;
    const joined = this.#join(
      list.items.map(({ value }) => value),
      between.text,
      scope,
    );
    return { ...joined, isBuilt: between.text === "" && list.items.length > 1 };
  }
}

function plainName(name: string, isHidden: boolean): ResolvedName {
  const plain = name
    .slice(0, MOST_NAME)
    .replace(GLOBALS, "")
    .replace(/\.default(?=\.|$)/g, "")
    .replace("fs.promises", "fs");
  return { name: plain, isHidden };
}

function known(text: string, isBuilt = false): FoldedText {
  return { text: text.slice(0, MOST_TEXT), isWhole: true, isBuilt };
}

type Fold = (expression: Expression | undefined) => FoldedText;

/** What `split("").reverse()` was called on. */
function innermost(expression: Expression): Expression {
  const isCall = expression.kind === "call" && expression.callee.kind === "member";
  return isCall && expression.callee.kind === "member" ? innermost(expression.callee.object) : expression;
}

function reverseText({ text, isWhole }: FoldedText): FoldedText {
  return isWhole ? known([...text].reverse().join(""), true) : NO_TEXT;
}

/** `chr(99)`, `String.fromCharCode(99, 117)`, `base64.b64decode("…")` and similar calls with constants. */
function decodeCall(name: string, { args }: Call, fold: Fold): FoldedText {
  if (/^(?:chr|String\.from(?:CharCode|CodePoint))$/.test(name)) {
    const codes = args.map(({ value }) => Number(fold(value).text));
    const areCodes = codes.every((code) => Number.isInteger(code) && code >= 0 && code <= 0x10ffff);
    return areCodes ? known(String.fromCodePoint(...codes), true) : NO_TEXT;
  }
  if (name === REVERSED) return reverseText(fold(argumentOf(args, 0)));
  const encoding = encodingOf(name, fold(argumentOf(args, 1, "encoding")).text);
  const { text, isWhole } = fold(argumentOf(args, 0));
  if (encoding === undefined || !isWhole) return NO_TEXT;
  if (encoding === "rot13") return known(text.replace(/[a-z]/gi, rotate), true);
  const decoded = Buffer.from(text, encoding).toString("utf8");
  return decoded.includes("\uFFFD") ? NO_TEXT : known(decoded, true);
}

function encodingOf(name: string, second: string): "base64" | "hex" | "rot13" | undefined {
  if (/^(?:base64\.(?:\w*b64decode|decodebytes)|atob|binascii\.a2b_base64)$/.test(name)) return "base64";
  if (/^(?:(?:bytes|bytearray)\.fromhex|binascii\.unhexlify)$/.test(name)) return "hex";
  if (name === "Buffer.from" && (second === "base64" || second === "hex")) return second;
  return name === "codecs.decode" && /rot/.test(second) ? "rot13" : undefined;
}

function rotate(letter: string): string {
  const base = letter <= "Z" ? 65 : 97;
  return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
}
