import { execFile } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Diagnostic } from "@metier/base/diagnostic";
import { describe, expect, test } from "vitest";
import { COMPILED_CODE } from "../../../../test/support/compiled-code.ts";
import { ROOT } from "../../../../test/support/repository.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { findKeychain } from "../../src/vault/keychain.ts";
import { openVault } from "../../src/vault/open-vault.ts";

const SECRET = { access: "kept-under-a-key-of-the-keychain" };

/** Keeps each secret in a file named by its account, and notes what it was called with. */
const SECRET_TOOL = `#!/bin/sh
printf '%s\\n' "$*" >> "$HOME/calls"
[ -e "$HOME/locked" ] && { echo "locked" >&2; exit 1; }
act=$1
[ "$act" = store ] && shift
case "$act" in
  store) cat > "$HOME/entry-$5" ;;
  lookup) cat "$HOME/entry-$5" 2>/dev/null ;;
  clear) rm -f "$HOME/entry-$5" ;;
esac
`;

const SECURITY = `#!/bin/sh
if [ "$1" = -i ]; then read -r line; set -- $line; printf '%s' "$8" > "$HOME/entry-$6"; exit 0; fi
[ -e "$HOME/entry-$5" ] || exit 44
case "$1" in
  find-generic-password) cat "$HOME/entry-$5"; echo ;;
  delete-generic-password) rm "$HOME/entry-$5" ;;
esac
`;

interface Machine {
  readonly home: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
}

function makeMachine(name: string, script: string): Machine {
  const home = temporaryFolder();
  writeFileSync(join(home, name), script);
  chmodSync(join(home, name), 0o755);
  const tools = ["/usr/bin", "/bin"].join(":");
  return { home, environment: { PATH: `${home}:${tools}`, HOME: home }, folder: join(home, "vault") };
}

function entriesOf({ home }: Machine): readonly string[] {
  return readdirSync(home).filter((name) => name.startsWith("entry-"));
}

describe("a keychain", () => {
  test("holds the key, and no file beside the vault does", async () => {
    const machine = makeMachine("secret-tool", SECRET_TOOL);
    const { environment, folder, home } = machine;
    const open = () =>
      openVault({ folder, keychain: findKeychain(environment, "linux") }).open("door", "alice");
    const ref = await open().put(SECRET);
    expect(await open().get(ref)).toEqual(SECRET);
    expect(readdirSync(folder)).toContain("keychain.json");
    expect(existsSync(join(folder, "key.json"))).toBe(false);
    const [entry = ""] = entriesOf(machine);
    const key = readFileSync(join(home, entry), "utf8");
    expect(key).toMatch(/^[\w-]{43}$/);
    expect(readFileSync(join(home, "calls"), "utf8")).not.toContain(key);
    expect(readFileSync(join(folder, "keychain.json"), "utf8")).not.toContain(key);
  });

  test("of macOS is spoken to in its own words", async () => {
    const machine = makeMachine("security", SECURITY);
    const keychain = findKeychain(machine.environment, "darwin");
    await keychain?.store("key-1", "abc_DEF-1");
    expect(await keychain?.find("key-1")).toBe("abc_DEF-1");
    await keychain?.remove("key-1");
    expect(await keychain?.find("key-1")).toBeUndefined();
  });

  test("is not there without its program, or on another system", () => {
    const { environment } = makeMachine("secret-tool", SECRET_TOOL);
    expect(findKeychain({ PATH: temporaryFolder() }, "linux")).toBeUndefined();
    expect(findKeychain(environment, "darwin")).toBeUndefined();
    expect(findKeychain(environment, "win32")).toBeUndefined();
  });

  test("that fails is told once, and the key is kept in a file", async () => {
    const { environment, folder, home } = makeMachine("secret-tool", SECRET_TOOL);
    writeFileSync(join(home, "locked"), "");
    const told: Diagnostic[] = [];
    const keychain = findKeychain(environment, "linux");
    const vault = openVault({ folder, keychain, onDiagnostic: (one) => told.push(one) });
    const ref = await vault.open("door", "alice").put(SECRET);
    await vault.open("door", "bob").put(SECRET);
    expect(told).toEqual([
      expect.objectContaining({ code: "vault.keychain-unavailable", severity: "warning", path: folder }),
    ]);
    expect(told[0]?.message).toContain("`secret-tool` exited with 1");
    expect(existsSync(join(folder, "key.json"))).toBe(true);
    rmSync(join(home, "locked"));
    const again = openVault({ folder, keychain, onDiagnostic: (one) => told.push(one) });
    expect(await again.open("door", "alice").get(ref)).toEqual(SECRET);
    await again.open("door", "alice").put(SECRET);
    expect(told.length).toBe(1);
    expect(existsSync(join(folder, "keychain.json"))).toBe(false);
  });

  test("that is locked later on locks what it holds the key of, and nothing else", async () => {
    const { environment, folder, home } = makeMachine("secret-tool", SECRET_TOOL);
    const open = () =>
      openVault({ folder, keychain: findKeychain(environment, "linux") }).open("door", "alice");
    const early = await open().put(SECRET);
    writeFileSync(join(home, "locked"), "");
    const late = await open().put({ access: "later" });
    expect(await open().get(late)).toEqual({ access: "later" });
    await expect(open().get(early)).rejects.toMatchObject({
      code: "capability.state",
      message: expect.stringContaining("`secret-tool` exited with 1") as unknown,
      hint: expect.stringContaining("Unlock the system keychain") as unknown,
    });
    rmSync(join(home, "locked"));
    expect(await open().get(early)).toEqual(SECRET);
    expect(await open().get(late)).toEqual({ access: "later" });
  });

  test("that processes fill at the same time has one key in the end", async () => {
    const machine = makeMachine("secret-tool", SECRET_TOOL);
    const { environment, folder } = machine;
    const env = {
      ...COMPILED_CODE,
      ...environment,
      PATH: `${environment.PATH}:${dirname(process.execPath)}`,
      NODE_NO_WARNINGS: "1",
    };
    const writer = join(ROOT, "test/support/vault-writer.ts");
    const run = promisify(execFile);
    const written = await Promise.all(
      ["u1", "u2", "u3"].map(async (user) => {
        const { stdout } = await run(process.execPath, [writer, folder, user, "1"], { env });
        return { user, refs: JSON.parse(stdout) as readonly string[] };
      }),
    );
    const vault = openVault({ folder, keychain: findKeychain(environment, "linux") });
    for (const { user, refs } of written) {
      expect(await vault.open("door", user).get(refs[0] ?? "")).toEqual({ user, number: 0 });
    }
    expect(entriesOf(machine).length).toBe(1);
    expect(existsSync(join(folder, "key.json"))).toBe(false);
  });
});
