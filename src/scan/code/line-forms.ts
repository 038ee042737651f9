/** How languages without a grammar here write down what rules ask for: fetching, sending, reading, decoding, executing. */
import type { CodeLanguage } from "./code-part.ts";

export interface LineForms {
  readonly comment: RegExp;
  readonly fetch: RegExp;
  /** Something of this line goes along with the request. */
  readonly send: RegExp;
  /** A file whose name stands on the line is read. */
  readonly read: RegExp;
  /** All variables of the environment. */
  readonly environment: RegExp;
  /** One of them; the first group that took part is its name. */
  readonly variable: RegExp;
  readonly execute: RegExp;
  readonly decode: RegExp;
  /** A command of the shell as a text of the language; a group of it is the command. */
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

export function formsOf(language: CodeLanguage): LineForms {
  return language === "powershell" ? POWERSHELL : OTHERS;
}
