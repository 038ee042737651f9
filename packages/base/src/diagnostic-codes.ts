/**
 * Every diagnostic code and what it means, in one table: the reference page and the pins are made from it.
 * Severity is not here: for rules about a skill file the profile decides it (`validate/profiles.ts`).
 */
export const DIAGNOSTIC_CODES = {
  // reading a skill file
  "file.unreadable": "The file could not be read.",
  "file.too-large": "The file is larger than a skill file may be.",
  "file.not-utf8": "The file is not UTF-8; invalid bytes were replaced.",

  // taking a skill file apart
  "file.bom": "The file begins with a byte order mark.",
  "file.line-ends": "Lines end in CR LF or CR.",
  "file.escaped-line-ends": "The file has `\\n` as two characters where lines should end.",
  "frontmatter.missing": "The file does not begin with frontmatter.",
  "frontmatter.no-opening": "The frontmatter has no opening `---`.",
  "frontmatter.unclosed": "The frontmatter has no closing `---`.",
  "frontmatter.glued-fence": "Text follows the closing `---` on its line.",
  "frontmatter.stray-fence": "An empty `---` block stands before the frontmatter.",
  "frontmatter.code-fence": "The frontmatter stands in a code block.",
  "frontmatter.leading-comment": "A comment stands before the frontmatter.",
  "frontmatter.leading-blank": "Blanks or blank lines stand before the frontmatter.",
  "frontmatter.empty": "The frontmatter has no keys.",
  "frontmatter.not-a-mapping": "The frontmatter is not made of keys with values.",
  "frontmatter.too-large": "The frontmatter is larger than is read.",
  "yaml.invalid": "The frontmatter is not YAML and cannot be repaired.",
  "yaml.repaired": "A key or value is not written as YAML needs it, and was repaired.",
  "yaml.dropped": "A value or lines that cannot be read were left out.",
  "yaml.duplicate-key": "A key stands more than once; the last one counts.",
  "yaml.unsafe-key": "A key that could reach a prototype was left out.",
  "yaml.too-complex": "The frontmatter has too many values or is nested too deeply.",
  "instructions.not-text": "`instructions` of a YAML skill is not text.",
  "text.control-character": "The frontmatter has control characters, which were left out.",
  "text.invisible": "The frontmatter has invisible or bidirectional characters.",

  // a source, a directory, a link
  "source.missing": "A path that was asked for does not exist.",
  "source.not-a-directory": "A skills path is not a directory.",
  "source.unreadable": "A directory could not be listed.",
  "source.discovery-off": "The standard directories are not searched, because `skills.auto-discover` is off.",
  "source.foreign-owner": "A project directory belongs to another user and is not searched.",
  "source.failed": "A source of the program cannot be asked, or does not give a file.",
  "source.stale": "A source of the program cannot be asked; its skills are used as they were read last.",
  "source.entry": "A source of the program lists a skill that cannot be taken; it is left out.",
  "source.limit": "A source of the program has more or larger skills than are taken.",
  "source.changed-content": "The files of a skill are not what its source gave.",
  "scan.baseline-unreadable": "A baseline that the config names cannot be read; nothing of it is accepted.",
  "scan.blocked": "The scan found what keeps an untrusted skill from being used.",
  "scan.depth-limit": "Directories below the depth limit were not searched.",
  "scan.entry-limit": "The entry limit was reached; the rest was not searched.",
  "scan.ignored": "A `.gitignore` hides a skill file.",
  "scan.nested-skill": "A skill file lies below another skill and is part of its content.",
  "scan.skill-file-in-root": "A skill file stands in a skills folder instead of a folder of its own.",
  "scan.no-skill": "A path that was asked for holds no skill.",
  "scan.second-skill-file": "A folder holds more than one skill file; one is read.",
  "scan.special-file": "A skill file is not a regular file.",
  "link.escapes": "A link leads out of every known skills directory and is not followed.",
  "link.dangling": "A link leads nowhere.",

  // a source that was fetched to be installed
  "tree.limit": "A source has more, larger, deeper or longer-named files than may be installed.",
  "tree.link": "A link of a source leads, or may lead, out of it.",
  "tree.name":
    "A file name of a source cannot be told from another, hides something, or means something to git.",
  "tree.mode-dropped": "A file of a source has a setuid or setgid bit, which is not taken over.",
  "tree.special-file": "A source has a device, FIFO or socket, or a file with a setuid or setgid bit.",
  "tree.twins": "Two names of a source are one where letter case or Unicode forms make no difference.",
  "tree.unportable-name": "A file name of a source cannot exist on every system.",
  "tree.submodule": "A submodule of a repository is not fetched.",
  "tree.lfs-pointer": "A file is kept in Git LFS; only the pointer to it is fetched.",
  "install.unfinished":
    "A skill is installed or removed, but a folder that belongs to it could not be changed.",
  "install.kept": "A copy of a skill was changed by hand, so it was left where it is.",
  "install.links-into-home": "A project got links into the user's own store, which others do not have.",
  "install.place-taken":
    "The folder of another client has something else of that name, so the skill is not put there.",
  "install.moved-aside": "What stood where a skill belongs was moved aside.",
  "source.link": "A folder to install from is a link; what it leads to is used.",
  "source.deprecated": "The author of an npm package advises against the version.",
  "source.redirected": "A download came from another host than the one that was asked.",
  "source.same-skill-twice": "A source has the same skill at two places; it is installed once.",
  "source.unusable-entry": "An entry in the index of a site cannot be used and is left out.",
  "plugin.unclear": "What a plugin says about its parts cannot be followed.",
  "plugin.other-parts": "A plugin brings more than skills, which is not installed.",

  // the fields of a manifest
  "field.unknown": "No client is known to read this field.",
  "field.case": "A field is written in another letter case than its own.",
  "field.not-in-spec": "The field is not one of the six of the published specification.",
  "field.misplaced": "The field belongs below `metadata`.",
  "field.both-spellings": "A field is given twice, in two spellings, with different values.",
  "field.wrong-type": "The value has a type from which the field cannot be read.",
  "field.wrong-item": "An item of a list is not text and is left out.",
  "field.wrong-choice": "The value is not one of those the field allows.",
  "field.unknown-key": "A key inside the field is not known.",
  "field.empty": "The field has no value and counts as absent.",
  "field.coerced": "The value was turned into the type the field needs.",
  "field.scalar-for-text": "A number or boolean stands where text belongs.",
  "field.structure-for-text": "A list or map stands where text belongs.",
  "field.not-honoured": "Fields that are read, but that this version does not act on.",
  "field.not-portable": "Fields that other clients do not know.",
  "name.missing": "There is no name; the directory or file name is used.",
  "name.grammar": "The name is outside the grammar of names.",
  "name.not-directory": "The name differs from the directory's.",
  "name.not-plain": "The name has letters that some clients do not accept.",
  "name.reserved": "The name has a word that some clients reserve.",
  "description.missing": "There is no description.",
  "description.too-long": "The description is longer than 1024 characters.",
  "description.markup": "The description has a tag, which some clients do not accept.",
  "compatibility.empty": "`compatibility` is given, but empty.",
  "compatibility.too-long": "`compatibility` is longer than 500 characters.",
  "metadata.scalar": "A value below `metadata` is a number or boolean, not text.",
  "metadata.nested": "A value below `metadata` is a list or map, not text.",
  "tools.list": "The specification has tools as one line, not as a list.",
  "tools.commas": "The specification has tools apart by spaces, not commas.",
  "tools.malformed": "A tool pattern cannot be read and matches nothing.",
  "vault.keychain-unavailable":
    "The keychain of the system does not answer; the key of the vault is kept in a file.",
  "capability.failed": "The host failed to perform a capability.",
  "capability.unlinked": "A skill uses a capability for which no account is linked yet.",
  "capability.not-namespaced": "A capability id is not `namespace.name` and is left out.",
  "env.name": "A name cannot be that of an environment variable and is left out.",
  "access.unclear": "`access` cannot be read, so the skill counts as sensitive.",
  "trigger.pattern": "A trigger pattern is not a regular expression and is left out.",
  "toolset.malformed": "A toolset is not `path/module:ExportName` and is left out.",
  "toolset.missing": "A toolset names a module that is not in the skill's folder.",
  "hook.malformed": "A hook cannot be read: it is left out, and before a tool call it blocks the call.",
  "hook.unknown-event": "Hooks for an event that does not exist here are left out.",
  "package.name": "A name cannot be that of a Debian package and is left out.",

  // a skill given as an object
  "given.unusable": "It is no object, or has no name or no instructions as text.",

  // the skill file as a whole
  "skill-file.name": "The file is not named `SKILL.md`.",
  "skill-file.flat": "The skill is a flat file, which the published specification does not know.",
  "skill-file.empty": "There is neither a description nor a body.",
  "body.empty": "There are no instructions.",
  "body.too-long": "The instructions are longer than about 5000 tokens.",
  "body.too-many-lines": "The instructions have more than 500 lines.",
  "body.floods-context": "The instructions alone fill most of a small model's context.",
  "reference.dangling": "A link in the body leads to a file that does not exist.",
  "reference.outside": "A link in the body leads out of the skill's folder.",
  "reference.limit": "The body has more links than are checked.",
  "reference.missing": "The body names a file of the skill that does not exist.",
  "script.missing": "The body names a script of the skill that does not exist.",

  // who wins
  "catalog.compatibility": "The `compatibility` text names something this machine seems not to have.",
  "catalog.conflict": "Two skills of one name stand in the same scope.",
  "catalog.directory-beats-flat":
    "A flat skill file has the name of a skill folder beside it; the folder wins.",
  "catalog.same-skill-twice": "The same skill is reached by two paths.",
  "catalog.untrusted-shadow": "An untrusted skill has the name of a trusted one and does not replace it.",

  // configuration
  "config.broken": "A config file cannot be parsed; it is skipped.",
  "config.unreadable": "A config file exists but cannot be read; it is skipped.",
  "config.not-read": "A config file stands where Metier reads another format.",
  "config.two-files": "Two config files of different formats stand beside each other; one is read.",
  "config.foreign-owner": "A project config file belongs to another user and is not read.",
  "config.unknown-key": "A config key is not known.",
  "config.not-used": "A key of another system's config file means nothing to Metier.",
  "config.unknown-variable": "A `METIER_…__…` environment variable names no config key.",
  "config.invalid-value":
    "A config value has the wrong type or is not among the allowed ones; it is ignored.",
  "config.invalid-limit": "A value that restricts runs is wrong; no run starts until it is corrected.",
  "config.spelled-twice": "A config key stands there in two spellings with different values.",
  "config.not-granted": "A project file that is not granted sets a key that needs a grant.",
  "config.user-only": "A project file sets a key that is read from the user file only.",
  "config.policy-drops-path": "The policy does not allow a path that someone asked for.",
  "config.policy-cannot-tighten": "The policy sets something that does not make anything stricter.",
  "config.plugin-missing": "An entry of `skills.plugins` names a skill that is not installed.",
  "config.no-longer-bundled": "The config names a skill that no longer comes with Metier.",
  "config.unknown-skill": "A `[skills.<name>]` table names no skill that was found.",

  // what a skill is, and who trusts it
  "identity.unreadable": "A part of a skill cannot be read, so the skill has no content identity.",
  "identity.limit": "A skill is too large to have a content identity.",
  "identity.special-file": "A skill contains something that is neither file, folder nor link.",
  "identity.name-not-utf8": "A file of a skill has a name that is not UTF-8.",
  "identity.unstable": "A file of a skill changed while it was read.",
  "identity.skill-file-outside": "The skill file is a link that leads out of the skill's folder.",
  "trust.grants-unusable": "The file of grants cannot be used; nothing in it counts.",
  "trust.grants-kept-aside": "An unusable file of grants was kept under another name.",
  "trust.path-missing": "A trusted path does not exist.",
  "trust.folder-missing": "A folder that was to be trusted or denied is not there, or is no folder.",

  // what is installed
  "lock.unusable": "A lock file cannot be used; nothing of it counts as installed.",
  "lock.foreign-owner": "A project's lock file belongs to another user and is not read.",
  "lock.missing-folder": "Skills that a lock records are not on this machine.",
  "lock.outside-project": "A project's lock names a folder that leads out of the project; it is not used.",
  "lock.changed-content": "An installed skill is not what its lock records; it is not used.",
  "lock.changed-copy": "A copy that was installed has been changed since; it counts as a skill of its own.",

  // skills of MCP servers
  "remote.config": "An MCP server of the config cannot be used as it is written there.",
  "remote.never-asked": "An MCP server has not been asked for its skills yet.",
  "remote.index-unusable": "What is known of an MCP server cannot be read, or others could have written it.",
  "remote.unreachable": "An MCP server cannot be reached, failed, or offers no skills.",
  "remote.not-found": "An MCP server does not have the skill or file that it is asked for.",
  "remote.stale": "A skill is used as it was, because its MCP server cannot be asked.",
  "remote.endless-list": "The list of an MCP server has no end, is too long, or is no list; it is refused.",
  "remote.entry": "An MCP server declares a skill against the rules; it is refused.",
  "remote.limit": "A skill of an MCP server has more or larger files than are taken; it is refused.",
  "remote.dynamic": "A skill of an MCP server has no digests, so it cannot be verified; it is refused.",
  "remote.redirect": "An MCP server answers with another skill or file than was asked for; it is refused.",
  "remote.content": "What an MCP server sends as a file is none that can be kept; it is refused.",
  "remote.size": "A file of an MCP server has another size than the server declares; it is refused.",
  "remote.digest": "A file of an MCP server has another digest than the server declares; it is refused.",
  "remote.frontmatter":
    "The frontmatter of a skill of an MCP server is not what the server declares; it is refused.",
  "remote.changed-content": "The fetched files of a skill are not what its MCP server declares.",
  "remote.shared-name": "An MCP server offers several skills of one name.",
  "remote.name-taken": "An MCP server offers a skill by the name of another one; the other keeps it.",
  "remote.not-mounted": "A skill of an MCP server is not put where a client would take it for a local one.",

  // what a model gets of a skill, and mounting
  "disclosure.text-removed": "Invisible or control characters were removed from a text for a model.",
  "resource.unlistable": "The files of a skill cannot be listed.",
  "resource.link-escapes": "A link leads out of the skill's folder; it is left out.",
  "resource.special-file": "Something in a skill is neither file, folder nor link; it is left out.",
  "resource.unreadable": "A file of a skill cannot be read; it is left out.",
  "mount.link-escapes": "A link leads out of a skill's folder and can be followed in the mounted one.",

  // the model of a run
  "model.unknown": "A model is named that is not configured; the default one is used.",
  "model.no-key": "A skill names a provider for which there is no key; the default model is used.",
  "model.plain-http": "A key is sent over plain HTTP to another machine.",

  // secrets, the environment of a run, and its events
  "secret.short": "A secret is too short to be redacted.",
  "secret.reserved-name": "A skill declares a variable that decides how programs start; it is not given one.",
  "secret.not-allowed": "Values of the user's config are not given to a skill, because of its trust.",
  "secret.unresolved": "The command or key chain that a variable refers to gave no value.",
  "host.callback-failed":
    "A callback of the embedding program, such as `onEvent`, threw or rejected; the run went on.",
  "run.sink-failed": "Something that listens to a run's events failed and hears no more of them.",
  "run.folder-not-kept": "The work folder of a durable run could not be kept after a call.",
  "run.not-kept": "A chat could not be saved.",
  "run.not-removed": "An old run could not be removed.",
  "run.files-unlisted": "A run left more files than are listed, or some that cannot be.",
  "run.copy-failed": "Files that a run left could not be copied.",

  // invoking a skill
  "invoke.not-honoured": "Fields that have no effect here: inline, or in any run of this version.",
  "invoke.withheld": "Fields of an untrusted skill that have no effect until it is trusted.",
  "invoke.dynamic-context": "Commands in the text of a skill were not run.",

  // named agents and custom commands
  "definition.empty": "The file of an agent or a command has no text; it is left out.",
  "definition.not-honoured": "A custom command has parts that this version does not act on.",
  "definition.shadowed": "Another agent or command of that name counts.",
  "definition.conflict": "Two agents or commands of one name stand in the same folder; one counts.",
  "definition.untrusted-shadow":
    "An untrusted agent or command has the name of a trusted one and does not replace it.",

  // the world of a run and its sandbox
  "sandbox.path-not-shown": "A folder that was asked for is not shown to a run.",
  "sandbox.path-not-writable": "A folder that was to be writable stays read-only for a run.",
  "sandbox.scan-limit": "A folder is too large to be looked through for secrets.",
  "sandbox.unsandboxed": "Commands run without a sandbox, because the config says so.",
  "sandbox.program-missing":
    "An entry of `sandbox.programs` is not there, or must not be brought into a sandbox.",
  "sandbox.interpreted": "Commands run in an interpreted shell, which starts no programs.",
  "sandbox.unavailable": "No sandbox works on this machine, so no command is run.",
  "sandbox.not-granted": "A skill declares more than the config lets it reach.",
  "sandbox.use-cut": "A run used more paths or domains than its result lists.",

  // what a skill keeps, and its scripts
  "data.folder-missing": "The folder for a skill's data cannot be made.",
  "store.corrupt": "A value in a skill's store cannot be read; its file was set aside.",
  "script.output-long": "A script wrote more than its result holds; the whole is in the work folder.",

  // hooks of a run
  "hook.failed": "A hook after a tool call, or at the end of a run, could not be carried out.",
  "hook.stop-overruled": "A hook wanted a run to go on, but it ended.",

  // toolsets of a run
  "toolset.not-loaded": "A toolset cannot be loaded; the run goes on without its tools.",
  "toolset.tool-left-out": "A tool of a toolset cannot be offered and is left out.",

  // what a skill needs to be installed
  "packages.missing": "Debian packages that a skill names are not installed, or nobody can tell.",
  "environment.unlocked":
    "A skill names Python or Node packages without locking them; they are not installed.",
  "environment.source": "A locked package does not come from the registry; nothing is installed.",
  "environment.not-built":
    "Locked packages are not installed: by trust, by the config, or because something is missing here.",
  "environment.failed": "The packages that a skill locks could not be installed.",
  "environment.built": "The packages that a skill locks were installed for it.",

  // tools and their policy
  "tools.unknown": "A tool is named that does not exist here.",
  "tools.unenforced":
    "A skill disallows a tool of the embedding program, and the program does not hold it to that.",
  "tools.scope-unenforceable":
    "The scope of a tool pattern cannot be held: it allows nothing, and where it denies, everything.",

  // serving skills over MCP
  "mcp.not-served": "A skill is left out of `skills/list`, because a client would have to refuse it.",
  "mcp.connection": "A connection to a client failed, or could not be told of a change.",

  // testing a skill
  "test-file.invalid": "A test file cannot be read, or has a case that cannot be used.",

  // evaluating a skill
  "eval.unreadable": "A file with evals or queries cannot be read, or is no JSON.",
  "eval.invalid": "An eval, an assertion or a query cannot be used and is left out.",
  "eval.unknown-field": "A field of an eval is not known and is not read.",
  "eval.other-skill": "A file with evals names another skill than the one it lies in.",
  "eval.no-assertions": "An eval says nothing that must be true of its result.",
  "eval.missing-file": "An eval names an input file or a script that is not in the skill's folder.",
  "eval.calls-denied": "Tool calls of an evaluation were not allowed, because nobody could be asked.",
} as const;

/** The stable code of a diagnostic: a key of `DIAGNOSTIC_CODES`, such as `name.missing`. */
export type DiagnosticCode = keyof typeof DIAGNOSTIC_CODES;
