/**
 * First words that never match a scoped pattern, because what they go on to do is not in the words: they start other
 * programs, run a language of their own, or change what later words mean. Data only.
 */
interface Group {
  readonly why: string;
  readonly programs: string;
}

const GROUPS: readonly Group[] = [
  {
    why: "is a shell",
    programs: "bash sh dash zsh ksh mksh fish csh tcsh ash rbash busybox toybox pwsh powershell cmd nu xonsh",
  },
  {
    why: "starts another program",
    programs: `env xargs sudo sudoedit doas su runuser pkexec nohup time timeout nice ionice chroot setsid stdbuf unbuffer
      strace ltrace gdb lldb valgrind perf watch parallel sem script flock unshare nsenter bwrap firejail setpriv capsh
      chrt taskset setarch linux32 linux64 i386 x86_64 arch numactl prlimit ld.so systemd-run at batch crontab tmux
      screen dtach expect entr start-stop-daemon daemonize run-parts sshpass proxychains proxychains4 torify torsocks
      eatmydata fakeroot faketime dbus-run-session xvfb-run rlwrap socat caffeinate open xdg-open osascript mosh
      supervise setuidgid s6-setuidgid chpst gosu su-exec tini dumb-init direnv nix-shell`,
  },
  {
    why: "lets its user start any program",
    programs: `vi vim nvim view vimdiff rvim ex ed emacs emacsclient nano pico less more most man info mc ranger
      sftp ftp lftp mail mailx mutt telnet`,
  },
  {
    why: "has a language of its own that can start programs",
    programs:
      "awk gawk mawk nawk original-awk sqlite3 psql mysql mariadb mongosh redis-cli dc m4 gnuplot octave jshell",
  },
  {
    why: "is a builtin that changes what the shell does next",
    programs: `. source alias bg bind builtin caller command compgen complete compopt coproc declare dirs disown enable
      eval exec export fc fg getopts hash help history jobs let local logout mapfile popd pushd read readarray readonly
      return set shift shopt suspend times trap typeset ulimit umask unalias unset wait`,
  },
  {
    why: "is a word of the shell itself",
    programs: "if then elif else fi case esac for select while until do done in function [[ ]] { } ! (( ))",
  },
];

const REASONS: ReadonlyMap<string, string> = new Map(
  GROUPS.flatMap(({ why, programs }) => programs.split(/\s+/).map((program) => [program, why] as const)),
);

/** Why the program never matches, as the end of a sentence that begins with its name. */
export function whyUnprovable(program: string): string | undefined {
  return REASONS.get(program) ?? (/^ld-linux/.test(program) ? "starts another program" : undefined);
}
