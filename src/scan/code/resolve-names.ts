/** What names and texts of a program stand for: aliases followed to the module they come from, constants put together. */
import { UNKNOWN } from "./act.ts";
import { moduleName } from "./lower-javascript.ts";
import type { Expression } from "./program.ts";
import { argumentOf, type Scope } from "./scope.ts";

export interface ResolvedName {
  /** Dotted: `child_process.exec`, `requests.Session().post`; `?` for what is not known. */
  readonly name: string;
  /** It was put together from pieces, so that it cannot be read at a glance. */
  readonly isHidden: boolean;
}

const MOST_STEPS = 16;
const LOADERS = /^(?:require|import|__import__|importlib\.import_module|process\.mainModule\.require|module\.require)$/;
const GLOBALS = /^(?:builtins|__builtins__|globalThis|window|global|globals\(\)|__builtins__\.__dict__|vars\(\)|locals\(\))\./;

export function resolveName(expression: Expression, scope: Scope, steps = 0): ResolvedName {
  if (steps > MOST_STEPS) return { name: "?", isHidden: false };
  switch (expression.kind) {
    case "name":
      return resolveVariable(expression.name, scope, steps);
    case "member": {
      const attribute = attributeName(expression);
      if (attribute !== undefined && scope.find(attribute)) return resolveVariable(attribute, scope, steps);
      const object = resolveName(expression.object, scope, steps + 1);
      const key = expression.key && foldText(expression.key, scope, steps + 1);
      const name = expression.name ?? (key?.isWhole ? key.text : "?");
      const isPutTogether = expression.key !== undefined && expression.key.kind !== "text" && key?.isWhole === true && key.isBuilt;
      return named(`${object.name}.${name}`, object.isHidden || isPutTogether);
    }
    case "call":
      return resolveCall(expression, scope, steps);
    case "text":
    case "joined":
      return { name: "text", isHidden: false };
    default:
      return { name: "?", isHidden: false };
  }
}

/** `self.name` for an attribute of `self` or `this`. */
export function attributeName({ object, name }: Expression & { readonly kind: "member" }): string | undefined {
  const isOwn = object.kind === "name" && /^(?:self|this|cls)$/.test(object.name);
  return isOwn && name !== undefined ? `self.${name}` : undefined;
}

function named(name: string, isHidden: boolean): ResolvedName {
  const plain = name.replace(GLOBALS, "").replace(/\.default(?=\.|$)/g, "").replace("fs.promises", "fs");
  return { name: plain, isHidden };
}

function resolveVariable(name: string, scope: Scope, steps: number): ResolvedName {
  const variable = scope.find(name);
  if (variable === undefined) return { name, isHidden: false };
  if (variable.full !== undefined) return named(variable.full, false);
  const { value, valueScope = scope } = variable;
  if (value === undefined) return { name: variable.callable ? `local.${name}` : "?", isHidden: false };
  return resolveName(value, valueScope, steps + 1);
}

type Call = Expression & { readonly kind: "call" };

function resolveCall({ callee, args }: Call, scope: Scope, steps: number): ResolvedName {
  const { name, isHidden } = resolveName(callee, scope, steps + 1);
  const first = argumentOf(args, 0);
  if (LOADERS.test(name) && first) {
    const { text, isWhole, isBuilt } = foldText(first, scope, steps + 1);
    if (isWhole) return { name: moduleName(text), isHidden: isHidden || isBuilt };
  }
  const second = argumentOf(args, 1);
  if (name === "getattr" && first && second) {
    const object = resolveName(first, scope, steps + 1);
    const key = foldText(second, scope, steps + 1);
    return named(`${object.name}.${key.isWhole ? key.text : "?"}`, object.isHidden || (key.isWhole && key.isBuilt));
  }
  if (/^(?:util\.promisify|functools\.partial)$/.test(name) && first) return resolveName(first, scope, steps + 1);
  return { name: `${name}()`, isHidden };
}

export interface FoldedText {
  /** With `UNKNOWN` for the parts that are not known. */
  readonly text: string;
  readonly isWhole: boolean;
  /** Put together or decoded, rather than written down. */
  readonly isBuilt: boolean;
}

const NOTHING_KNOWN: FoldedText = { text: UNKNOWN, isWhole: false, isBuilt: false };
const MOST_TEXT = 65_536;

export function foldText(expression: Expression, scope: Scope, steps = 0): FoldedText {
  if (steps > MOST_STEPS) return NOTHING_KNOWN;
  switch (expression.kind) {
    case "text":
      return { text: expression.value.slice(0, MOST_TEXT), isWhole: true, isBuilt: false };
    case "joined":
      return joinTexts(expression.parts, expression.separator, scope, steps);
    case "name": {
      const variable = scope.find(expression.name);
      if (!variable?.value) return NOTHING_KNOWN;
      return foldText(variable.value, variable.valueScope ?? scope, steps + 1);
    }
    case "member": {
      const attribute = scope.find(attributeName(expression) ?? "");
      if (attribute?.value) return foldText(attribute.value, attribute.valueScope ?? scope, steps + 1);
      return isHomeFolder(resolveName(expression, scope, steps + 1).name) ? known("~") : NOTHING_KNOWN;
    }
    case "call":
      return foldCall(expression, scope, steps);
    default:
      return NOTHING_KNOWN;
  }
}

function known(text: string, isBuilt = false): FoldedText {
  return { text: text.slice(0, MOST_TEXT), isWhole: true, isBuilt };
}

function isHomeFolder(name: string): boolean {
  return /^(?:os\.environ\.(?:HOME|USERPROFILE)|process\.env\.(?:HOME|USERPROFILE))$/.test(name);
}

/** Several short literals in a row hide what they say; one text over several lines does not. */
function joinTexts(parts: readonly Expression[], separator: string, scope: Scope, steps: number): FoldedText {
  const folded = parts.map((part) => foldText(part, scope, steps + 1));
  const text = folded.map((part) => part.text).join(separator).slice(0, MOST_TEXT);
  const isWhole = folded.every((part) => part.isWhole);
  const isBuilt = folded.some((part) => part.isBuilt) || (separator === "" && parts.length > 1 && text.length < 40);
  return { text, isWhole, isBuilt };
}

function foldCall(call: Call, scope: Scope, steps: number): FoldedText {
  const { name } = resolveName(call.callee, scope, steps + 1);
  const receiver = call.callee.kind === "member" ? call.callee.object : undefined;
  const fold = (expression: Expression | undefined): FoldedText =>
    expression ? foldText(expression, scope, steps + 1) : NOTHING_KNOWN;
  const first = argumentOf(call.args, 0);
  if (/^(?:os\.homedir|pathlib\.Path\.home|Path\.home)$/.test(name)) return known("~");
  if (/^(?:os\.path\.join|path\.(?:join|resolve)|pathlib\.Path|Path|pathlib\.PurePath)$/.test(name)) {
    return joinTexts(call.args.map(({ value }) => value), "/", scope, steps);
  }
  if (/^(?:os\.path\.(?:expanduser|expandvars|abspath|realpath)|str|String|bytes)$/.test(name)) return expandHome(fold(first));
  if (/^(?:os\.getenv|os\.environ\.get)$/.test(name)) return fold(first).text === "HOME" ? known("~") : NOTHING_KNOWN;
  if (/\.(?:expanduser|resolve|absolute|decode|encode|strip|toString|as_posix|lower|format|trim)$/.test(name) && receiver) {
    return fold(receiver);
  }
  if (/\.joinpath$/.test(name) && receiver) {
    return joinTexts([receiver, ...call.args.map(({ value }) => value)], "/", scope, steps);
  }
  if (name.endsWith(".join") && receiver) return foldJoin(call, receiver, scope, steps);
  return foldCharacters(name, call, fold) ?? foldDecoded(name, call, fold) ?? NOTHING_KNOWN;
}

function expandHome(folded: FoldedText): FoldedText {
  return { ...folded, text: folded.text.replace(/^\$(?:HOME\b|\{HOME\})/, "~") };
}

/** `"".join(["a", "b"])` and `["a", "b"].join("")`. */
function foldJoin(call: Call, receiver: Expression, scope: Scope, steps: number): FoldedText {
  const first = argumentOf(call.args, 0);
  const [list, separator] = receiver.kind === "items" ? [receiver, first] : [first, receiver];
  if (list?.kind !== "items") return NOTHING_KNOWN;
  const between = separator ? foldText(separator, scope, steps + 1) : known("");
  if (!between.isWhole) return NOTHING_KNOWN;
  const joined = joinTexts(list.items.map(({ value }) => value), between.text, scope, steps);
  return { ...joined, isBuilt: between.text === "" && list.items.length > 1 };
}

type Fold = (expression: Expression | undefined) => FoldedText;

/** `chr(99)`, `String.fromCharCode(99, 117)`. */
function foldCharacters(name: string, { args }: Call, fold: Fold): FoldedText | undefined {
  if (!/^(?:chr|String\.from(?:CharCode|CodePoint))$/.test(name)) return undefined;
  const codes = args.map(({ value }) => Number(fold(value).text));
  return codes.every((code) => Number.isInteger(code) && code >= 0 && code <= 0x10ffff)
    ? known(String.fromCodePoint(...codes), true)
    : NOTHING_KNOWN;
}

function foldDecoded(name: string, { args }: Call, fold: Fold): FoldedText | undefined {
  const encoding = encodingOf(name, fold(argumentOf(args, 1, "encoding")).text);
  if (encoding === undefined) return undefined;
  const { text, isWhole } = fold(argumentOf(args, 0));
  if (!isWhole) return NOTHING_KNOWN;
  if (encoding === "rot13") return known(text.replace(/[a-z]/gi, rotate), true);
  const decoded = Buffer.from(text, encoding).toString("utf8");
  return decoded.includes("\uFFFD") ? NOTHING_KNOWN : known(decoded, true);
}

function encodingOf(name: string, second: string): "base64" | "hex" | "rot13" | undefined {
  if (/^(?:base64\.(?:b64decode|urlsafe_b64decode|standard_b64decode|decodebytes)|atob|binascii\.a2b_base64)$/.test(name)) return "base64";
  if (/^(?:bytes\.fromhex|bytearray\.fromhex|binascii\.unhexlify)$/.test(name)) return "hex";
  if (name === "Buffer.from" && (second === "base64" || second === "hex")) return second;
  return name === "codecs.decode" && /rot/.test(second) ? "rot13" : undefined;
}

function rotate(letter: string): string {
  const base = letter <= "Z" ? 65 : 97;
  return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
}
