/**
 * The completion scripts for each shell. They know no commands: on every Tab they ask `metier __complete`, so they
 * never need an update. They treat its answers as data and evaluate nothing.
 */

export const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** `command`: the words that start Metier. */
export function completionScript(shell: Shell, command: readonly string[]): string {
  return SCRIPTS[shell](command.length === 1 ? `command ${command[0]}` : command.map(quote).join(" "));
}

/** Quotes a word for bash, zsh and fish. */
function quote(word: string): string {
  return /^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

const SCRIPTS: Readonly<Record<Shell, (ask: string) => string>> = {
  // Bash 3.2, which macOS has, knows neither `mapfile` nor `compopt`.
  bash: (ask) => `# Completion of metier for bash: eval "$(metier completion bash)" in ~/.bashrc
_metier() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" line value kind
  case "$cur" in = | :) cur= ;; esac
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :files | :dirs)
        kind=-f
        [ "$line" = :dirs ] && kind=-d
        compopt -o filenames 2>/dev/null
        while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen "$kind" -- "$cur")
        ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(${ask} __complete bash "$COMP_WORDBREAKS" "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -F _metier metier
`,
  zsh: (ask) => `#compdef metier
# Completion of metier for zsh: a file _metier in a folder of $fpath, or
# eval "$(metier completion zsh)" behind compinit in ~/.zshrc
_metier() {
  local line files
  local -a values
  while IFS= read -r line; do
    case "$line" in
      :files) files=f ;;
      :dirs) files=d ;;
      *) values+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done < <(${ask} __complete zsh "\${(@Q)words[1,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)
  local found=1
  if (( $#values )); then _describe -t values metier values && found=0; fi
  if [[ $files == f ]]; then _files && found=0; fi
  if [[ $files == d ]]; then _files -/ && found=0; fi
  return found
}
if [[ "\${funcstack[1]}" == _metier ]]; then _metier "$@"; else compdef _metier metier; fi
`,
  fish: (ask) => `# Completion of metier for fish: ~/.config/fish/completions/metier.fish
function __metier_complete
    set -l current (commandline -ct)
    for line in (${ask} __complete fish (commandline -opc) "$current" 2>/dev/null)
        switch "$line"
            case ':files'
                __fish_complete_path "$current"
            case ':dirs'
                __fish_complete_directories "$current"
            case '*'
                printf '%s\\n' "$line"
        end
    end
end
complete -c metier -f -a '(__metier_complete)'
`,
};
