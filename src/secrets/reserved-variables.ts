/**
 * Variables that decide how programs start, what they load and whom they trust. A skill that could set one would change
 * every command of its run, so it is never given any of them, whatever it declares.
 */
const NAMES: ReadonlySet<string> = new Set([
  // the process and its shell
  ...["PATH", "HOME", "SHELL", "USER", "LOGNAME", "PWD", "OLDPWD", "TMPDIR", "TMP", "TEMP"],
  ...["ENV", "IFS", "CDPATH", "GLOBIGNORE", "SHELLOPTS", "PROMPT_COMMAND", "PS4"],
  // the C library
  ...["GCONV_PATH", "GLIBC_TUNABLES", "HOSTALIASES", "LOCALDOMAIN", "LOCPATH", "NLSPATH", "RES_OPTIONS"],
  // interpreters
  ...["NODE_OPTIONS", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED"],
  ...["RUBYOPT", "RUBYLIB", "CLASSPATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"],
  // programs that programs start
  ...["EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "SSH_ASKPASS"],
  ...["SUDO_ASKPASS", "SSH_AUTH_SOCK", "TERMINFO", "TERMINFO_DIRS", "TERMCAP"],
  // the network and whom it trusts
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  ...["OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES", "CURL_HOME", "CURL_CA_BUNDLE", "WGETRC"],
]);

/** Families that grow with the program. */
const PREFIXES: readonly string[] = [
  ...["BASH", "LD_", "DYLD_", "MALLOC_"],
  ...["GIT_", "NPM_CONFIG_", "PERL5", "PYTHON", "XDG_", "METIER_"],
];

export function isReservedVariable(name: string): boolean {
  return NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix));
}
