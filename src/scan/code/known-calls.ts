/** What functions of Python and JavaScript do, by their resolved names. */

export type CallEffect =
  /** Executes text as code of the same language. */
  | "evaluate"
  /** Gives a text to a shell. */
  | "shell"
  /** Starts a program with its words. */
  | "spawn"
  /** Asks an address for something, and may give it something. */
  | "request"
  | "send"
  | "look-up"
  | "decode"
  /** Makes bytes of a text, which may be written in another encoding. */
  | "convert"
  | "read"
  | "open"
  | "write"
  | "copy"
  | "delete"
  /** Makes objects from bytes, and runs code of theirs on the way. */
  | "unpack"
  /** Loads a module, whose code runs. */
  | "load"
  /** Looks at clipboard, screen, keychain or cookies. */
  | "spy"
  | "nothing";

const EFFECTS: readonly (readonly [CallEffect, RegExp])[] = [
  [
    "evaluate",
    /^(?:eval|exec|execfile|compile|Function|execScript|vm\.(?:runIn\w+|Script|compileFunction)|types\.FunctionType|code\.InteractiveInterpreter\(\)\.runsource|.*\._compile|.*\.constructor\.constructor|AsyncFunction)$/,
  ],
  [
    "shell",
    /^(?:os\.(?:system|popen\d?)|subprocess\.(?:getoutput|getstatusoutput)|commands\.get\w+|asyncio\.create_subprocess_shell|child_process\.(?:exec|execSync)|shelljs\.exec|execa\.(?:command|commandSync)|execSync|pexpect\.run)$/,
  ],
  [
    "spawn",
    /^(?:subprocess\.(?:run|call|check_call|check_output|Popen)|os\.(?:exec[lv]p?e?|spawn[lv]p?e?|posix_spawnp?|startfile)|asyncio\.create_subprocess_exec|pty\.spawn|pexpect\.spawn|child_process\.(?:spawn|spawnSync|execFile|execFileSync|fork)|execa|Bun\.spawn(?:Sync)?|Deno\.(?:Command|run))$/,
  ],
  [
    "request",
    /^(?:(?:requests|httpx|aiohttp|niquests|curl_cffi\.requests|urllib3)(?:\.\w+\(\))*\.(?:get|head|options|post|put|patch|delete|request|stream|urlopen)|(?:local\.)?session\.(?:get|post|put)|urllib\d?\.(?:request\.)?(?:urlopen|urlretrieve|Request)|fetch|node-fetch|cross-fetch|undici\.(?:fetch|request)|axios|axios\.(?:get|post|put|patch|request|delete)|axios\.create\(\)\.\w+|got|got\.\w+|ky|ky\.\w+|superagent\.\w+|needle\.\w+|needle|request|request\.\w+|https?\.(?:get|request)|\$\.(?:get|post|ajax)|wget\.download)$/,
  ],
  [
    "send",
    /^(?:navigator\.sendBeacon|.*\.(?:sendall|sendmail|send_message|storbinary|sendto|putfo)|socket\.socket\(\)\.(?:send|sendall|sendto)|(?:new )?XMLHttpRequest\(\)\.send|WebSocket\(\)\.send|https?\.request\(\)\.(?:write|end)|net\.(?:connect|createConnection|Socket)\(\)\.(?:write|end)|http\.client\.HTTPS?Connection\(\)\.request|.*\.(?:upload_file|upload_fileobj|put_object)|discord_webhook\.\w+)$/,
  ],
  [
    "look-up",
    /^(?:socket\.(?:gethostbyname(?:_ex)?|getaddrinfo)|dns\.(?:lookup|resolve\w*)|dns\.resolver\.(?:query|resolve)|dns\.promises\.\w+)$/,
  ],
  [
    "decode",
    /^(?:base64\.\w*decode\w*|atob|unescape|bytes\.fromhex|bytearray\.fromhex|binascii\.(?:unhexlify|a2b_\w+)|codecs\.decode|zlib\.(?:decompress|inflate\w*|gunzip\w*|unzip\w*|brotliDecompress\w*)|gzip\.decompress|bz2\.decompress|lzma\.decompress|String\.from(?:CharCode|CodePoint)|chr|reversed text)$/,
  ],
  ["convert", /^Buffer\.from$/],
  ["load", /^(?:import|require|importlib\.import_module|__import__)$/],
  [
    "unpack",
    /^(?:(?:c?pickle|_pickle|dill|cloudpickle|marshal|shelve|joblib)\.(?:loads?|open)|yaml\.unsafe_load|jsonpickle\.decode|node-serialize\.unserialize|WebAssembly\.(?:instantiate|compile)\w*|ctypes\.CDLL)$/,
  ],
  [
    "open",
    /^(?:open|io\.open|codecs\.open|os\.open|fs\.open(?:Sync)?|.*Path\(\)\.open|fs\.create(?:Read|Write)Stream)$/,
  ],
  [
    "read",
    /^(?:.*\.(?:read_text|read_bytes)|fs\.(?:readFile|readFileSync|readdir|readdirSync)|Bun\.file|Deno\.read\w+|sqlite3\.connect|configparser\.\w+\(\)\.read|os\.listdir|glob\.glob|os\.walk|np\.genfromtxt|linecache\.getlines?)$/,
  ],
  [
    "spy",
    /^(?:keyring\.get_password|pyperclip\.paste|clipboardy\.read\w*|(?:PIL\.)?ImageGrab\.grab\w*|pyautogui\.screenshot|browser_cookie3\.\w+|browsercookie\.\w+)$/,
  ],
  [
    "copy",
    /^(?:shutil\.(?:copy\w*|move|make_archive)|fs\.(?:copyFile|copyFileSync|cp|cpSync|rename|renameSync|symlinkSync)|os\.(?:rename|replace|symlink|link))$/,
  ],
  [
    "write",
    /^(?:.*\.(?:write_text|write_bytes)|fs\.(?:writeFile|writeFileSync|appendFile|appendFileSync)|Bun\.write|Deno\.write\w+)$/,
  ],
  [
    "delete",
    /^(?:shutil\.rmtree|os\.(?:remove|unlink|rmdir|removedirs)|fs\.(?:rm|rmSync|rmdir|rmdirSync|unlink|unlinkSync)|fs-extra\.remove\w*|rimraf(?:\.\w+)?|del)$/,
  ],
  [
    "nothing",
    /^(?:len|bool|isinstance|type|id|hash|typeof|Boolean|.*\.(?:startswith|endsWith|startsWith|endswith|exists|existsSync|is_file|is_dir|includes|indexOf|status_code|isfile|isdir|getmtime|getsize))$/,
  ],
];

export function effectOf(name: string): CallEffect | undefined {
  return EFFECTS.find(([, pattern]) => pattern.test(name))?.[0];
}

/** Names of what a request sends along, in keyword arguments and option records. */
export const SENT_NAMES: ReadonlySet<string> = new Set([
  "data",
  "json",
  "files",
  "content",
  "body",
  "params",
  "payload",
  "form",
  "multipart",
  "qs",
  "searchParams",
]);

/** Credentials belong there: a single variable in it is how services are used. */
export const CREDENTIAL_NAMES: ReadonlySet<string> = new Set([
  "headers",
  "auth",
  "cookies",
  "cert",
  "Authorization",
]);

/** Methods that put their arguments into what they are called on. */
export const ADDING_METHODS: ReadonlySet<string> = new Set([
  "append",
  "extend",
  "insert",
  "add",
  "update",
  "push",
  "unshift",
  "set",
  "write",
  "setdefault",
  "writestr",
]);
