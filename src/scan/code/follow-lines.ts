/** PowerShell, Ruby, Perl, PHP and Lua, which have no grammar here: line by line, in the few forms in which they fetch, decode and execute. */
import type { Act } from "./act.ts";
import type { CodePart } from "./code-part.ts";
import { NO_TAINTS, type Taints, taint, uniteTaints } from "./taint.ts";

interface LineForms {
  readonly comment: RegExp;
  readonly fetch: RegExp;
  readonly execute: RegExp;
  readonly decode: RegExp;
}

const POWERSHELL: LineForms = {
  comment: /#.*$/,
  fetch:
    /\b(?:Invoke-WebRequest|iwr|Invoke-RestMethod|irm|curl|wget|Start-BitsTransfer)\b|Net\.WebClient|\.Download(?:String|File|Data)\b/i,
  execute: /\b(?:Invoke-Expression|iex)\b|\[scriptblock\]::Create|-EncodedCommand\b|\s-enc\b/i,
  decode: /FromBase64String|-EncodedCommand\b|\s-enc\s+[A-Za-z0-9+/=]{20,}/i,
};

const OTHERS: LineForms = {
  comment: /(?:^|\s)(?:#|\/\/|--\s).*$/,
  fetch:
    /\bNet::HTTP\b|\bURI\.open\b|\bopen-uri\b|\bLWP::|\bfile_get_contents\s*\(\s*['"]https?:|\bcurl_exec\b|\bhttp\.request\b|\b(?:curl|wget)\s+-?\S*\s*https?:/i,
  execute:
    /\b(?:eval|instance_eval|class_eval|assert|create_function|load(?:string)?|shell_exec|passthru|proc_open|popen|system|exec)\b\s*[(\s"'`$]|`[^`]*\|\s*(?:ba)?sh/,
  decode:
    /\b(?:Base64\.(?:strict_|urlsafe_)?decode64|base64_decode|decode_base64|gzinflate|str_rot13|unpack\s*\(?\s*['"]m)/,
};

const ADDRESS = /https?:\/\/[^\s"'`)]+/i;
const ASSIGNMENT = /^\s*(?:my\s+|local\s+)?(\$?\w+)\s*=[^=]/;

export function followLines(part: CodePart): readonly Act[] {
  const forms = part.language === "powershell" ? POWERSHELL : OTHERS;
  const variables = new Map<string, Taints>();
  const acts: Act[] = [];
  let at = 0;
  for (const line of part.text.split("\n")) {
    const code = line.replace(forms.comment, "").trim();
    const [url = ""] = ADDRESS.exec(code) ?? [];
    const fetches = forms.fetch.test(code);
    const taints = uniteTaints(
      fetches ? taint("remote", url) : NO_TAINTS,
      forms.decode.test(code) ? taint("decoded") : NO_TAINTS,
      ...(code.match(/\$?\b\w+/g) ?? []).map((name) => variables.get(name) ?? NO_TAINTS),
    );
    const [, assigned] = ASSIGNMENT.exec(code) ?? [];
    if (assigned !== undefined && taints.size > 0) variables.set(assigned, taints);
    const place = { part, at, seen: line.trim().slice(0, 400) };
    if (fetches) acts.push({ ...place, kind: "fetch", taints: NO_TAINTS, target: url });
    if (forms.execute.test(code)) acts.push({ ...place, kind: "run", taints, target: part.language });
    const words = code.split(/\s+/).filter((word) => word !== "");
    if (words.length > 0) acts.push({ ...place, kind: "command", taints: NO_TAINTS, words });
    at += line.length + 1;
  }
  return acts;
}
