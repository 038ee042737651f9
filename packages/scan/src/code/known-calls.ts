/** What calls of known functions do in Python and JavaScript: their acts, and the taints of their results. */
import {
  type Act,
  type ActKind,
  type CodePart,
  hasTaint,
  NO_TAINTS,
  type Taints,
  taint,
  taintDetails,
  uniteTaints,
  withoutTaint,
} from "./code-part.ts";
import { secretKindOf } from "./known-secrets.ts";
import { type Argument, argumentOf, type CodeScope, type Expression } from "./program.ts";
import type { FoldedText, NameResolver } from "./resolve-names.ts";

/** Matched by the call's name. The first match counts. */
const EFFECTS = {
  /** Executes text as code in the same language. */
  evaluate:
    /^(?:eval|exec|execfile|compile|Function|execScript|vm\.(?:runIn\w+|Script|compileFunction)|types\.FunctionType|code\.InteractiveInterpreter\(\)\.runsource|.*\._compile|.*\.constructor\.constructor|AsyncFunction)$/,
  /** Passes a text to a shell. */
  shell:
    /^(?:os\.(?:system|popen\d?)|subprocess\.(?:getoutput|getstatusoutput)|commands\.get\w+|asyncio\.create_subprocess_shell|child_process\.(?:exec|execSync)|shelljs\.exec|execa\.(?:command|commandSync)|execSync|pexpect\.run)$/,
  /** Starts a program with its words. */
  spawn:
    /^(?:subprocess\.(?:run|call|check_call|check_output|Popen)|os\.(?:exec[lv]p?e?|spawn[lv]p?e?|posix_spawnp?|startfile)|asyncio\.create_subprocess_exec|pty\.spawn|pexpect\.spawn|child_process\.(?:spawn|spawnSync|execFile|execFileSync|fork)|execa|Bun\.spawn(?:Sync)?|Deno\.(?:Command|run))$/,
  /** Requests an address, and may send data. */
  request:
    /^(?:(?:requests|httpx|aiohttp|niquests|curl_cffi\.requests|urllib3)(?:\.\w+\(\))*\.(?:get|head|options|post|put|patch|delete|request|stream|urlopen)|(?:local\.)?session\.(?:get|post|put)|urllib\d?\.(?:request\.)?(?:urlopen|urlretrieve|Request)|fetch|node-fetch|cross-fetch|undici\.(?:fetch|request)|axios|axios\.(?:get|post|put|patch|request|delete)|axios\.create\(\)\.\w+|got|got\.\w+|ky|ky\.\w+|superagent\.\w+|needle\.\w+|needle|request|request\.\w+|https?\.(?:get|request)|\$\.(?:get|post|ajax)|wget\.download)$/,
  send: /^(?:navigator\.sendBeacon|.*\.(?:sendall|sendmail|send_message|storbinary|sendto|putfo)|socket\.socket\(\)\.(?:send|sendall|sendto)|(?:new )?XMLHttpRequest\(\)\.send|WebSocket\(\)\.send|https?\.request\(\)\.(?:write|end)|net\.(?:connect|createConnection|Socket)\(\)\.(?:write|end)|http\.client\.HTTPS?Connection\(\)\.request|.*\.(?:upload_file|upload_fileobj|put_object)|discord_webhook\.\w+)$/,
  "look-up":
    /^(?:socket\.(?:gethostbyname(?:_ex)?|getaddrinfo)|dns\.(?:lookup|resolve\w*)|dns\.resolver\.(?:query|resolve)|dns\.promises\.\w+)$/,
  decode:
    /^(?:base64\.\w*decode\w*|atob|unescape|bytes\.fromhex|bytearray\.fromhex|binascii\.(?:unhexlify|a2b_\w+)|codecs\.decode|zlib\.(?:decompress|inflate\w*|gunzip\w*|unzip\w*|brotliDecompress\w*)|gzip\.decompress|bz2\.decompress|lzma\.decompress|String\.from(?:CharCode|CodePoint)|chr|reversed text)$/,
  /** Decodes a text, which may be in another encoding. */
  convert: /^Buffer\.from$/,
  /** Loads a module, whose code runs. */
  load: /^(?:import|require|importlib\.import_module|__import__)$/,
  /** Builds objects from bytes, which can run code. */
  unpack:
    /^(?:(?:c?pickle|_pickle|dill|cloudpickle|marshal|shelve|joblib)\.(?:loads?|open)|yaml\.unsafe_load|jsonpickle\.decode|node-serialize\.unserialize|WebAssembly\.(?:instantiate|compile)\w*|ctypes\.CDLL)$/,
  open: /^(?:open|io\.open|codecs\.open|os\.open|fs\.open(?:Sync)?|.*Path\(\)\.open|fs\.create(?:Read|Write)Stream)$/,
  read: /^(?:.*\.(?:read_text|read_bytes)|fs\.(?:readFile|readFileSync|readdir|readdirSync)|Bun\.file|Deno\.read\w+|sqlite3\.connect|configparser\.\w+\(\)\.read|os\.listdir|glob\.glob|os\.walk|np\.genfromtxt|linecache\.getlines?)$/,
  /** Reads the clipboard, screen, keychain or cookies. */
  spy: /^(?:keyring\.get_password|pyperclip\.paste|clipboardy\.read\w*|(?:PIL\.)?ImageGrab\.grab\w*|pyautogui\.screenshot|browser_cookie3\.\w+|browsercookie\.\w+)$/,
  copy: /^(?:shutil\.(?:copy\w*|move|make_archive)|fs\.(?:copyFile|copyFileSync|cp|cpSync|rename|renameSync|symlinkSync)|os\.(?:rename|replace|symlink|link))$/,
  write:
    /^(?:.*\.(?:write_text|write_bytes)|fs\.(?:writeFile|writeFileSync|appendFile|appendFileSync)|Bun\.write|Deno\.write\w+)$/,
  delete:
    /^(?:shutil\.rmtree|os\.(?:remove|unlink|rmdir|removedirs)|fs\.(?:rm|rmSync|rmdir|rmdirSync|unlink|unlinkSync)|fs-extra\.remove\w*|rimraf(?:\.\w+)?|del)$/,
  nothing:
    /^(?:len|bool|isinstance|type|id|hash|typeof|Boolean|.*\.(?:startswith|endsWith|startsWith|endswith|exists|existsSync|is_file|is_dir|includes|indexOf|status_code|isfile|isdir|getmtime|getsize))$/,
} satisfies Readonly<Record<string, RegExp>>;

export type CallEffect = keyof typeof EFFECTS;

export function effectOf(name: string): CallEffect | undefined {
  const names = Object.keys(EFFECTS) as CallEffect[];
  return names.find((effect) => EFFECTS[effect].test(name));
}

/** Names of the data that a request sends, in keyword arguments and option records. */
const SENT_NAMES = /^(?:data|json|files|content|body|params|payload|form|multipart|qs|searchParams)$/;

/** Credentials belong there: services are used with a single variable in it. */
const CREDENTIAL_NAMES = /^(?:headers|auth|cookies|cert|Authorization)$/;

/** Methods that add their arguments to their object. */
export const ADDING_METHODS: RegExp =
  /^(?:append|extend|insert|add|update|push|unshift|set|write|setdefault|writestr)$/;

export type Call = Expression & { readonly kind: "call" };

/** A call whose parts were evaluated. */
export interface MadeCall {
  readonly call: Call;
  readonly scope: CodeScope;
  /** The resolved name. */
  readonly name: string;
  readonly isHidden: boolean;
  /** Taints of the object it is called on. */
  readonly receiver: Taints;
  /** Taints of the arguments, in order. */
  readonly args: readonly Taints[];
  /** Taints of all arguments together. */
  readonly given: Taints;
}

/** The walk that a call belongs to. */
export interface CallSite {
  readonly part: CodePart;
  readonly resolver: NameResolver;
  visit(expression: Expression, scope: CodeScope): Taints;
  /** Code within this code; returns the taints of its output. */
  follow(call: Call, language: CodePart["language"], text: string): Taints;
  record(kind: ActKind, place: Expression, taints: Taints, more: Partial<Act>): void;
}

/** `undefined` if nothing is known about the call. */
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

/** The argument at a position, or by name, if known. */
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
    site.record("run", call, taints, { target: name, isHidden, isBuilt, content });
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
  const isPlain = (value: Expression): boolean =>
    value.kind === "items" && value.items.every((item) => item.name === undefined);
  const list = call.args.map(({ value }) => value).find(isPlain);
  const texts = effect === "spawn" ? wordsOf(command, list) : [command];
  const folded = texts.map((text) => site.resolver.text(text, scope));
  const [first] = folded;
  const isLine = effect === "shell" || (list === undefined && /\s/.test(first?.text ?? ""));
  const content = isLine ? (first?.text ?? "") : folded.map(({ text }) => quote(text)).join(" ");
  const isBuilt = first?.isBuilt ?? false;
  site.record("run", call, withoutTaint(taints, "environment"), { target: name, isHidden, content, isBuilt });
  return uniteTaints(taints, site.follow(call, "shell", content));
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

/** Credentials belong into headers: services are used with a single variable there. */
function sentBy({ name = "" }: Argument, taints: Taints): Taints {
  return CREDENTIAL_NAMES.test(name) ? withoutTaint(taints, "variable") : taints;
}

function carriesData({ call, name }: MadeCall): boolean {
  if (/\.(?:post|put|patch)$/.test(name)) return true;
  return call.args.some((argument) => {
    const items =
      argument.value.kind === "items" && argument.name === undefined ? argument.value.items : [argument];
    return items.some((item) => SENT_NAMES.test(item.name ?? "") || isPost(item));
  });
}

function isPost({ name, value }: Argument): boolean {
  return name === "method" && value.kind === "text" && /^(?:post|put|patch)$/i.test(value.value);
}

/**
 * Files that are opened, read, written or copied: `open(path, mode)`, `Path(path).read_text()`, `fs.writeFile(path,
 * …)`.
 */
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
