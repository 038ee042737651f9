/**
 * Follows PowerShell, Ruby, Perl, PHP and Lua, which have no grammar here, line by line, in the usual forms in which
 * they fetch, send, read, decode and execute. Values are followed through variables; shell commands are parsed by the
 * shell grammar.
 */
import {
  type Act,
  type CodeLanguage,
  type CodePart,
  hasTaint,
  NO_TAINTS,
  partWithin,
  type Taints,
  taint,
  uniteTaints,
} from "./code-part.ts";
import { isSecretVariable, secretKindOf } from "./known-secrets.ts";

/** The variable includes the target's members and elements: `request.body = data`. */
const ASSIGNMENT =
  /^\s*(?:my\s+|local\s+|our\s+)?([$@%]?\w+)(?:(?:\.|->|::)\w+|\[[^\]]*\]|\{[^}]*\})*\s*=[^=~>]/;
const ADDRESS = /https?:\/\/[^\s"'`)]+/i;
/** A value inserted into a command. */
const SENDING_COMMAND = /\b(?:curl|wget|nc|ncat|scp)\s/;
const TEXTS = /"((?:[^"\\]|\\.){1,400})"|'((?:[^'\\]|\\.){1,400})'/g;

/** A variable's known value. */
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
  const texts = [...rest.matchAll(TEXTS)].map(([, double, single]) => double ?? single ?? "");
  const secret = forms.read.test(rest) ? texts.find((text) => secretKindOf(text) !== undefined) : undefined;
  const variablesRead = [...rest.matchAll(forms.variable)].flatMap(
    ([, ...groups]) => groups.find(Boolean) ?? [],
  );
  const taints = uniteTaints(
    printed,
    fetches ? taint("remote", url) : NO_TAINTS,
    forms.decode.test(rest) ? taint("decoded") : NO_TAINTS,
    secret === undefined ? NO_TAINTS : taint("secret", secret),
    forms.environment.test(rest) ? taint("environment") : NO_TAINTS,
    ...variablesRead.filter(isSecretVariable).map((name) => taint("variable", name)),
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

/** Shell commands are followed separately; the rest of the line has spaces in their place. */
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

interface LineForms {
  readonly comment: RegExp;
  readonly fetch: RegExp;
  /** Something on this line is sent with the request. */
  readonly send: RegExp;
  /** Reads a file whose name is on the line. */
  readonly read: RegExp;
  /** All environment variables. */
  readonly environment: RegExp;
  /** One of them; the first matching group is its name. */
  readonly variable: RegExp;
  readonly execute: RegExp;
  readonly decode: RegExp;
  /** A shell command as a string of the language; one of its groups is the command. */
  readonly shell: RegExp;
}

const POWERSHELL: LineForms = {
  comment: /#.*$/,
  fetch:
    /\b(?:Invoke-WebRequest|iwr|Invoke-RestMethod|irm|curl|wget|Start-BitsTransfer)\b|Net\.WebClient|\.Download(?:String|File|Data)\b/i,
  send: /\b(?:Invoke-WebRequest|iwr|Invoke-RestMethod|irm)\b.*\s-(?:Body|InFile|Form|Method\s+(?:Post|Put|Patch))\b|\.Upload(?:String|File|Data|Values)\b|\.PostAsync\b/i,
  read: /\b(?:Get-Content|gc|cat|type|Copy-Item|Compress-Archive)\b|ReadAll(?:Text|Bytes|Lines)\b|\.UploadFile\b|\s-InFile\b/i,
  environment: /\b(?:Get-ChildItem|gci|dir|ls)\s+env:|GetEnvironmentVariables\s*\(/i,
  variable: /\$env:(\w+)/gi,
  execute: /\b(?:Invoke-Expression|iex)\b|\[scriptblock\]::Create|-EncodedCommand\b|\s-enc\b/i,
  decode: /FromBase64String|-EncodedCommand\b|\s-enc\s+[A-Za-z0-9+/=]{20,}/i,
  shell: /\b(?:bash|sh|wsl)\s+-c\s+(?:"([^"]+)"|'([^']+)')/gi,
};

const OTHERS: LineForms = {
  comment: /(?:^|\s)(?:#|\/\/|--\s).*$/,
  fetch:
    /\bNet::HTTP\b|\bURI\.open\b|\bopen-uri\b|\bLWP::|\bfile_get_contents\s*\(\s*['"]https?:|\bcurl_exec\b|\bhttp\.request\b|\b(?:curl|wget)\s+-?\S*\s*https?:/i,
  send: /\bNet::HTTP\.(?:post|post_form|put)\b|(?:\.|->|::)(?:post|put|patch|post_form|request)\b\s*[( ]|\bCURLOPT_POSTFIELDS\b|\bcurl_exec\b|\bstream_context_create\b|\bTCPSocket\b.*\.(?:write|puts|print)\b|\bfsockopen\b|\bsmtp\w*\.send|\bsend_message\b/i,
  read: /\b(?:File|IO|Pathname|Dir)\b\S*\.(?:read|binread|open|foreach|readlines|new|glob)\b|\b(?:open|fopen|io\.open|file|readfile|file_get_contents|slurp|read_file|read_text)\b\s*[( ]|\bIO\.popen\b/i,
  environment:
    /\bENV\.(?:to_h|to_a|each|inspect|map|select|to_json)\b|%ENV\b|\bgetenv\s*\(\s*\)|\$_(?:ENV|SERVER)\b(?!\s*\[)/,
  variable:
    /\bENV(?:\[|\.fetch\(?|\{)\s*['"]?(\w+)|\bgetenv\s*\(\s*['"](\w+)|\$_(?:ENV|SERVER)\s*\[\s*['"](\w+)/g,
  execute:
    /\b(?:eval|instance_eval|class_eval|assert|create_function|load(?:string)?|shell_exec|passthru|proc_open|popen|system|exec)\b\s*[(\s"'`$]|`[^`]*\|\s*(?:ba)?sh/,
  decode:
    /\b(?:Base64\.(?:strict_|urlsafe_)?decode64|base64_decode|decode_base64|gzinflate|str_rot13|unpack\s*\(?\s*['"]m)/,
  shell:
    /\b(?:system|exec|spawn|popen\w*|shell_exec|passthru|proc_open|os\.execute|io\.popen|IO\.popen|qx|%x)\b\s*[({[ ]\s*(?:"((?:[^"\\]|\\.)+)"|'((?:[^'\\]|\\.)+)')|`([^`]+)`|(?:qx|%x)\s*[({[]([^)}\]]+)[)}\]]/g,
};

function formsOf(language: CodeLanguage): LineForms {
  return language === "powershell" ? POWERSHELL : OTHERS;
}
