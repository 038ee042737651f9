/**
 * Every diagnostic code and its meaning, in one table, from which the reference page and the pins are made. Severity
 * isn't here: for rules about skill files, the profile decides it (`validate/profiles.ts`).
 */
export const DIAGNOSTIC_CODES = {
  // reading a skill file
  "file.unreadable": "The file could not be read.",
  "file.too-large": "The file is larger than a skill file may be.",
  "file.not-utf8": "The file is not UTF-8; invalid bytes were replaced.",

  // parsing a skill file
  "file.bom": "The file starts with a byte order mark.",
  "file.line-ends": "Lines end in CR LF or CR.",
  "file.escaped-line-ends": "The file has a literal `\\n` where lines should end.",
  "frontmatter.missing": "The file does not start with frontmatter.",
  "frontmatter.no-opening": "The frontmatter has no opening `---`.",
  "frontmatter.unclosed": "The frontmatter has no closing `---`.",
  "frontmatter.glued-fence": "Text follows the closing `---` on its line.",
  "frontmatter.stray-fence": "An empty `---` block comes before the frontmatter.",
  "frontmatter.code-fence": "The frontmatter is inside a code block.",
  "frontmatter.leading-comment": "A comment comes before the frontmatter.",
  "frontmatter.leading-blank": "Spaces or blank lines come before the frontmatter.",
  "frontmatter.empty": "The frontmatter has no keys.",
  "frontmatter.not-a-mapping": "The frontmatter is not a list of keys with values.",
  "frontmatter.too-large": "The frontmatter exceeds the size limit.",
  "yaml.invalid": "The frontmatter is not YAML and can't be repaired.",
  "yaml.repaired": "A key or value was not valid YAML and was repaired.",
  "yaml.dropped": "A value or lines that can't be read were left out.",
  "yaml.duplicate-key": "A key appears more than once; the last one counts.",
  "yaml.unsafe-key": "A key that could reach a prototype was left out.",
  "yaml.too-complex": "The frontmatter has too many values or is nested too deeply.",
  "instructions.not-text": "The `instructions` of a YAML skill are not text.",
  "text.control-character": "The frontmatter had control characters, which were left out.",
  "text.invisible": "The frontmatter has invisible or bidirectional characters.",

  // sources, directories, links
  "source.missing": "A requested path does not exist.",
  "source.not-a-directory": "A skills path is not a directory.",
  "source.unreadable": "A directory could not be listed.",
  "source.discovery-off": "The standard directories are not searched, because `skills.auto-discover` is off.",
  "source.foreign-owner": "A project directory belongs to another user and is not searched.",
  "source.failed": "A source of the program doesn't answer or doesn't provide a file.",
  "source.stale": "A source of the program doesn't answer; its skills are used as last read.",
  "source.entry": "A source of the program lists an unusable skill, which is left out.",
  "source.limit": "A source of the program has more or larger skills than the limit allows.",
  "source.changed-content": "The files of a skill are not what its source provided.",
  "scan.baseline-unreadable":
    "A baseline named in the config can't be read; none of its findings are accepted.",
  "scan.blocked": "The scan blocks an untrusted skill.",
  "scan.depth-limit": "Directories below the depth limit were not searched.",
  "scan.entry-limit": "The entry limit was reached; the rest was not searched.",
  "scan.ignored": "A `.gitignore` hides a skill file.",
  "scan.nested-skill": "A skill file is inside another skill and counts as its content.",
  "scan.skill-file-in-root": "A skill file is directly in a skills folder; it needs its own folder.",
  "scan.no-skill": "A requested path holds no skill.",
  "scan.second-skill-file": "A folder holds more than one skill file; only one is read.",
  "scan.special-file": "A skill file is not a regular file.",
  "link.escapes": "A link leads out of every known skills directory and is not followed.",
  "link.dangling": "A link leads nowhere.",

  // a source fetched for installation
  "tree.limit": "A source has too many files, or files that are too large, too deep or too long in name.",
  "tree.link": "A link in a source leads, or may lead, out of it.",
  "tree.name":
    "A file name in a source can be confused with another, hides something, or has a meaning for git.",
  "tree.mode-dropped": "A file in a source has a setuid or setgid bit, which is dropped.",
  "tree.special-file": "A source has a device, FIFO or socket, or a file with a setuid or setgid bit.",
  "tree.twins": "Two names in a source are the same if letter case or Unicode form is ignored.",
  "tree.unportable-name": "A file name in a source can't exist on every system.",
  "tree.submodule": "A submodule of a repository is not fetched.",
  "tree.lfs-pointer": "A file is in Git LFS; only its pointer is fetched.",
  "install.unfinished":
    "A skill was installed or removed, but a folder that belongs to it could not be changed.",
  "install.kept": "A copy of a skill was edited by hand, so it was left in place.",
  "install.links-into-home": "A project got links into the user's own store, which other people don't have.",
  "install.place-taken":
    "Another client's folder already has something with that name, so the skill is not put there.",
  "install.moved-aside": "Something in the place of a skill was moved aside.",
  "source.link": "A folder to install from is a link; its target is used.",
  "source.deprecated": "The author of an npm package has deprecated the version.",
  "source.redirected": "A download came from a different host than the requested one.",
  "source.same-skill-twice": "A source has the same skill in two places; it is installed once.",
  "source.unusable-entry": "An entry in a site's index can't be used and is left out.",
  "plugin.unclear": "A plugin describes its parts in a way that can't be followed.",
  "plugin.other-parts": "A plugin contains more than skills; the rest is not installed.",

  // manifest fields
  "field.unknown": "No known client reads this field.",
  "field.case": "A field name uses the wrong letter case.",
  "field.not-in-spec": "The field is not one of the six of the published specification.",
  "field.misplaced": "The field belongs below `metadata`.",
  "field.both-spellings": "A field appears twice, in two spellings, with different values.",
  "field.wrong-type": "The value has a type that the field can't accept.",
  "field.wrong-item": "An item of a list is not text and is left out.",
  "field.wrong-choice": "The value is not one that the field allows.",
  "field.unknown-key": "A key inside the field is unknown.",
  "field.empty": "The field has no value and counts as absent.",
  "field.coerced": "The value was converted to the type the field needs.",
  "field.scalar-for-text": "The value is a number or boolean instead of text.",
  "field.structure-for-text": "The value is a list or map instead of text.",
  "field.not-honoured": "Fields that this version reads but ignores.",
  "field.not-portable": "Fields that other clients don't know.",
  "name.missing": "The name is missing; the directory or file name is used.",
  "name.grammar": "The name breaks the rules for names.",
  "name.not-directory": "The name differs from the directory name.",
  "name.not-plain": "The name has letters that some clients don't accept.",
  "name.reserved": "The name contains a word that some clients reserve.",
  "description.missing": "The description is missing.",
  "description.too-long": "The description is longer than 1024 characters.",
  "description.markup": "The description contains a tag, which some clients don't accept.",
  "compatibility.empty": "`compatibility` is empty.",
  "compatibility.too-long": "`compatibility` is longer than 500 characters.",
  "metadata.scalar": "A value below `metadata` is a number or boolean, not text.",
  "metadata.nested": "A value below `metadata` is a list or map, not text.",
  "tools.list": "The specification wants tools on one line, not as a list.",
  "tools.commas": "The specification wants tools separated by spaces, not commas.",
  "tools.malformed": "A tool pattern can't be read and matches nothing.",
  "vault.keychain-unavailable": "The system keychain doesn't answer; the vault's key is kept in a file.",
  "capability.failed": "The host failed to perform a capability.",
  "capability.unlinked": "A skill uses a capability that has no linked account yet.",
  "capability.not-namespaced": "A capability id is not `namespace.name` and is left out.",
  "env.name": "A name is not valid for an environment variable and is left out.",
  "access.unclear": "`access` can't be read, so the skill counts as sensitive.",
  "trigger.pattern": "A trigger pattern is not a regular expression and is left out.",
  "toolset.malformed": "A toolset is not `path/module:ExportName` and is left out.",
  "toolset.missing": "A toolset names a module that is not in the skill's folder.",
  "hook.malformed": "A hook can't be read; it is left out, or blocks the call if it runs before one.",
  "hook.unknown-event": "Hooks for an unknown event are left out.",
  "package.name": "A name is not valid for a Debian package and is left out.",

  // a skill given as an object
  "given.unusable": "It is not an object, or its name or instructions are missing or not text.",

  // the whole skill file
  "skill-file.name": "The file is not named `SKILL.md`.",
  "skill-file.flat": "The skill is a flat file, which the published specification does not allow.",
  "skill-file.empty": "The file has neither a description nor a body.",
  "body.empty": "The skill has no instructions.",
  "body.too-long": "The instructions are longer than about 5000 tokens.",
  "body.too-many-lines": "The instructions have more than 500 lines.",
  "body.floods-context": "The instructions alone fill most of a small model's context.",
  "reference.dangling": "A link in the body leads to a file that does not exist.",
  "reference.outside": "A link in the body leads out of the skill's folder.",
  "reference.limit": "The body has more links than Metier checks.",
  "reference.missing": "The body names a file that the skill does not have.",
  "script.missing": "The body names a script that the skill does not have.",

  // precedence
  "catalog.compatibility": "The `compatibility` text names something this machine seems to lack.",
  "catalog.conflict": "Two skills in the same scope share a name.",
  "catalog.directory-beats-flat":
    "A flat skill file has the same name as a skill folder next to it; the folder wins.",
  "catalog.same-skill-twice": "Two paths lead to the same skill.",
  "catalog.untrusted-shadow": "An untrusted skill has the name of a trusted one and does not replace it.",

  // configuration
  "config.broken": "A config file can't be parsed and is skipped.",
  "config.unreadable": "A config file exists but can't be read and is skipped.",
  "config.not-read": "A config file is in a place where Metier reads another format.",
  "config.two-files": "Two config files in different formats are next to each other; only one is read.",
  "config.foreign-owner": "A project config file belongs to another user and is not read.",
  "config.unknown-key": "A config key is unknown.",
  "config.not-used": "Metier ignores a key from another system's config file.",
  "config.unknown-variable": "A `METIER_…__…` environment variable names no config key.",
  "config.invalid-value": "A config value has the wrong type or is not allowed, and is ignored.",
  "config.invalid-limit": "A value that restricts runs is wrong; no run starts until it is corrected.",
  "config.spelled-twice": "A config key appears in two spellings with different values.",
  "config.not-granted": "An untrusted project file sets a key that needs a grant.",
  "config.user-only": "A project file sets a key that only the user file may set.",
  "config.policy-drops-path": "The policy forbids a requested path.",
  "config.policy-cannot-tighten": "The policy sets a value that tightens nothing.",
  "config.plugin-missing": "An entry in `skills.plugins` names a skill that is not installed.",
  "config.no-longer-bundled": "The config names a skill that no longer comes with Metier.",
  "config.unknown-skill": "A `[skills.<name>]` table names a skill that was not found.",

  // content identity and trust
  "identity.unreadable": "Part of a skill can't be read, so the skill has no content identity.",
  "identity.limit": "A skill is too large to have a content identity.",
  "identity.special-file": "A skill contains something that is not a file, folder or link.",
  "identity.name-not-utf8": "A file in a skill has a name that is not UTF-8.",
  "identity.unstable": "A file in a skill changed while it was read.",
  "identity.skill-file-outside": "The skill file is a link that leads out of the skill's folder.",
  "trust.grants-unusable": "The grants file can't be used; none of its grants count.",
  "trust.grants-kept-aside": "An unusable grants file was kept under another name.",
  "trust.path-missing": "A trusted path does not exist.",
  "trust.folder-missing": "A folder to trust or deny does not exist, or is not a folder.",

  // installed skills
  "lock.unusable": "A lock file can't be used; none of its skills count as installed.",
  "lock.foreign-owner": "A project's lock file belongs to another user and is not read.",
  "lock.missing-folder": "Skills recorded in a lock are not on this machine.",
  "lock.outside-project": "A project's lock names a folder outside the project, which is not used.",
  "lock.changed-content": "An installed skill differs from what its lock records and is not used.",
  "lock.changed-copy": "An installed copy has been changed; it counts as a separate skill.",

  // skills from MCP servers
  "remote.config": "The config of an MCP server can't be used as written.",
  "remote.never-asked": "An MCP server has not been asked for its skills yet.",
  "remote.index-unusable": "Stored data about an MCP server can't be read, or others could have written it.",
  "remote.unreachable": "An MCP server can't be reached, failed, or offers no skills.",
  "remote.not-found": "An MCP server does not have the requested skill or file.",
  "remote.stale": "A skill is used as last fetched, because its MCP server doesn't answer.",
  "remote.endless-list": "The list from an MCP server is endless, too long, or not a list, and is refused.",
  "remote.entry": "An MCP server declares a skill in a way that breaks the rules; it is refused.",
  "remote.limit": "A skill from an MCP server has too many or too large files and is refused.",
  "remote.dynamic": "A skill from an MCP server has no digests, so it can't be verified and is refused.",
  "remote.redirect": "An MCP server answered with a different skill or file than requested; it is refused.",
  "remote.content": "An MCP server sent something that can't be kept as a file; it is refused.",
  "remote.size": "A file from an MCP server has a different size than declared and is refused.",
  "remote.digest": "A file from an MCP server has a different digest than declared and is refused.",
  "remote.frontmatter":
    "The frontmatter of a skill from an MCP server differs from what the server declares; it is refused.",
  "remote.changed-content": "The fetched files of a skill differ from what its MCP server declares.",
  "remote.shared-name": "An MCP server offers several skills with the same name.",
  "remote.name-taken": "An MCP server offers a skill whose name is taken; the other skill keeps it.",
  "remote.not-mounted": "A skill from an MCP server is not put where a client would take it for a local one.",

  // disclosure and mounting
  "disclosure.text-removed": "Invisible or control characters were removed from a text for a model.",
  "resource.unlistable": "The files of a skill can't be listed.",
  "resource.link-escapes": "A link leads out of the skill's folder and is left out.",
  "resource.special-file": "Something in a skill is not a file, folder or link and is left out.",
  "resource.unreadable": "A file in a skill can't be read and is left out.",
  "mount.link-escapes": "A link leads out of a skill's folder and can be followed from the mounted copy.",

  // the model of a run
  "model.unknown": "The requested model is not configured; the default model is used.",
  "model.no-key": "A skill names a provider without a key; the default model is used.",
  "model.plain-http": "A key is sent over plain HTTP to another machine.",

  // secrets, environments and events of runs
  "secret.short": "A secret is too short to be redacted.",
  "secret.reserved-name": "A skill declares a variable that controls how programs start; it does not get it.",
  "secret.not-allowed": "A skill does not get values from the user's config, because it is untrusted.",
  "secret.unresolved": "The command or keychain behind a variable gave no value.",
  "host.callback-failed":
    "A callback of the embedding program, such as `onEvent`, threw or rejected; the run continued.",
  "run.sink-failed": "A listener for a run's events failed and gets no more of them.",
  "run.folder-not-kept": "The work folder of a durable run could not be kept after a call.",
  "run.not-kept": "A chat could not be saved.",
  "run.not-removed": "An old run could not be removed.",
  "run.files-unlisted": "A run left more files than can be listed, or some that can't be listed.",
  "run.copy-failed": "Files that a run left could not be copied.",

  // invoking a skill
  "invoke.not-honoured": "Fields that have no effect here: inline, or in any run of this version.",
  "invoke.withheld": "Fields of an untrusted skill that have no effect until it is trusted.",
  "invoke.dynamic-context": "Commands in the text of a skill were not run.",

  // named agents and custom commands
  "definition.empty": "The file of an agent or command has no text and is left out.",
  "definition.not-honoured": "A custom command has parts that this version ignores.",
  "definition.shadowed": "Another agent or command with that name wins.",
  "definition.conflict": "Two agents or commands in the same folder share a name; one of them wins.",
  "definition.untrusted-shadow":
    "An untrusted agent or command has the name of a trusted one and does not replace it.",

  // the world of a run and its sandbox
  "sandbox.path-not-shown": "A requested folder is not shown to a run.",
  "sandbox.path-not-writable": "A folder that should be writable stays read-only for a run.",
  "sandbox.scan-limit": "A folder is too large to search for secrets.",
  "sandbox.unsandboxed": "Commands run without a sandbox, because the config says so.",
  "sandbox.program-missing": "An entry in `sandbox.programs` does not exist, or is not allowed in a sandbox.",
  "sandbox.interpreted": "Commands run in an interpreted shell, which starts no programs.",
  "sandbox.unavailable": "No sandbox works on this machine, so no commands run.",
  "sandbox.not-granted": "A skill declares more than the config lets it reach.",
  "sandbox.use-cut": "A run used more paths or domains than its result lists.",

  // skill data and scripts
  "data.folder-missing": "The folder for a skill's data can't be created.",
  "store.corrupt": "A value in a skill's store can't be read; its file was set aside.",
  "script.output-long": "A script wrote more than its result holds; the work folder has all of it.",

  // hooks of a run
  "hook.failed": "A hook after a tool call, or at the end of a run, could not run.",
  "hook.stop-overruled": "A hook wanted a run to continue, but it ended.",

  // toolsets of a run
  "toolset.not-loaded": "A toolset can't be loaded; the run continues without its tools.",
  "toolset.tool-left-out": "A tool in a toolset can't be offered and is left out.",

  // packages of a skill
  "packages.missing": "Debian packages that a skill names are missing, or can't be checked.",
  "environment.unlocked":
    "A skill names Python or Node packages without locking them; they are not installed.",
  "environment.source": "A locked package does not come from the registry; nothing is installed.",
  "environment.not-built":
    "Locked packages are not installed because of trust, the config, or something missing here.",
  "environment.failed": "The packages that a skill locks could not be installed.",
  "environment.built": "The packages that a skill locks were installed.",

  // tools and their policy
  "tools.unknown": "A named tool does not exist here.",
  "tools.unenforced":
    "A skill disallows a tool of the embedding program, and the program does not enforce that.",
  "tools.scope-unenforceable":
    "The scope of a tool pattern can't be enforced: it allows nothing, or denies everything.",

  // serving skills over MCP
  "mcp.not-served": "A skill is left out of `skills/list`, because a client would have to refuse it.",
  "mcp.connection": "A connection to a client failed, or could not be told of a change.",

  // testing a skill
  "test-file.invalid": "A test file can't be read, or has an unusable case.",

  // evaluating a skill
  "eval.unreadable": "A file with evals or queries can't be read, or is not JSON.",
  "eval.invalid": "An eval, an assertion or a query can't be used and is left out.",
  "eval.unknown-field": "A field of an eval is unknown and ignored.",
  "eval.other-skill": "An evals file names a different skill than the one it belongs to.",
  "eval.no-assertions": "An eval has no assertions.",
  "eval.missing-file": "An eval names an input file or a script that is not in the skill's folder.",
  "eval.calls-denied": "Tool calls in an evaluation were denied, because nobody could be asked.",
} as const;

/** The stable code of a diagnostic: a key of `DIAGNOSTIC_CODES`, such as `name.missing`. */
export type DiagnosticCode = keyof typeof DIAGNOSTIC_CODES;
