import { execFile } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { COMPILED_CODE } from "../../../../test/support/compiled-code.ts";
import { NOBODY } from "../../../../test/support/nobody.ts";
import { ROOT } from "../../../../test/support/repository.ts";
import { filesBelow } from "../../../../test/support/sign-in-world.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { CapabilityStateError } from "../../src/state-files.ts";
import { isVaultRef, openVault } from "../../src/vault/open-vault.ts";

const SECRET = { access: "a-secret-that-nobody-else-reads", nested: { list: ["one", 2, null] } };

function entryFiles(folder: string): readonly string[] {
  return filesBelow(folder).filter((file) => file.endsWith(".jwe"));
}

describe("a secret in the vault", () => {
  test("comes back as it was, also in another process's hands, by an opaque reference", async () => {
    const folder = join(temporaryFolder(), "vault");
    const ref = await openVault({ folder }).open("door", "alice").put(SECRET);
    expect(ref).toMatch(/^vlt_[0-9a-f]{32}$/);
    expect(isVaultRef(ref)).toBe(true);
    expect(await openVault({ folder }).open("door", "alice").get(ref)).toEqual(SECRET);
  });

  test("is replaced and deleted, and says whether it was there", async () => {
    const vault = openVault({ folder: join(temporaryFolder(), "vault") }).open("door", "alice");
    const ref = await vault.put(SECRET);
    expect(await vault.replace(ref, { access: "newer" })).toBe(true);
    expect(await vault.get(ref)).toEqual({ access: "newer" });
    expect(await vault.delete(ref)).toBe(true);
    expect(await vault.delete(ref)).toBe(false);
    expect(await vault.replace(ref, SECRET)).toBe(false);
    expect(await vault.get(ref)).toBeUndefined();
  });

  test("is unknown to every other user and provider", async () => {
    const vault = openVault({ folder: join(temporaryFolder(), "vault") });
    const ref = await vault.open("door", "alice").put(SECRET);
    for (const other of [vault.open("door", "bob"), vault.open("gate", "alice")]) {
      expect(await other.get(ref)).toBeUndefined();
      expect(await other.replace(ref, {})).toBe(false);
      expect(await other.delete(ref)).toBe(false);
    }
    expect(await vault.open("door", "alice").get(ref)).toEqual(SECRET);
  });

  test("stays where it is, whatever a reference says", async () => {
    const vault = openVault({ folder: join(temporaryFolder(), "vault") }).open("door", "alice");
    await vault.put(SECRET);
    for (const ref of ["", "../key", "vlt_../../key", `vlt_${"0".repeat(31)}`, `vlt_${"0".repeat(32)}/x`]) {
      expect(await vault.get(ref)).toBeUndefined();
      expect(await vault.delete(ref)).toBe(false);
    }
  });

  test("larger than a credential can be is refused", async () => {
    const vault = openVault({ folder: join(temporaryFolder(), "vault") }).open("door", "alice");
    await expect(vault.put({ text: "x".repeat(300 * 1024) })).rejects.toThrow("limit is 262144");
  });
});

describe("on disk", () => {
  test("nothing of a secret can be read, and only its owner may look", async () => {
    const folder = join(temporaryFolder(), "vault");
    const vault = openVault({ folder }).open("door", "alice");
    await vault.replace(await vault.put(SECRET), SECRET);
    const written = filesBelow(folder).map((file) => ({ file, text: readFileSync(file, "latin1") }));
    expect(written.length).toBe(2);
    for (const { file, text } of written) {
      for (const form of ["utf8", "base64", "base64url", "hex"] as const) {
        expect(text).not.toContain(Buffer.from(SECRET.access).toString(form).slice(0, 24));
      }
      expect(text).not.toContain("alice");
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
    for (const path of [
      folder,
      join(folder, readdirSync(folder).find((name) => !name.includes(".")) ?? ""),
    ]) {
      expect(statSync(path).mode & 0o777).toBe(0o700);
    }
  });

  test("an entry is a JWE with direct encryption by AES-256-GCM", async () => {
    const folder = join(temporaryFolder(), "vault");
    await openVault({ folder }).open("door", "alice").put(SECRET);
    const [file = ""] = entryFiles(folder);
    const entry = JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
    const header = JSON.parse(Buffer.from(entry.protected ?? "", "base64url").toString()) as object;
    expect(header).toMatchObject({ alg: "dir", enc: "A256GCM", kid: expect.any(String) });
  });

  test("an entry that was put in the place of another opens for nobody", async () => {
    const folder = join(temporaryFolder(), "vault");
    const vault = openVault({ folder });
    const own = vault.open("door", "alice");
    const first = await own.put({ number: 1 });
    const [firstFile = ""] = entryFiles(folder);
    const second = await own.put({ number: 2 });
    const secondFile = entryFiles(folder).find((file) => file !== firstFile) ?? "";
    const ofBob = await vault.open("door", "bob").put({ number: 3 });
    const bobFile = entryFiles(folder).find((file) => file.includes(ofBob)) ?? "";
    renameSync(secondFile, firstFile);
    await expect(own.get(first)).rejects.toThrow("was changed, or belongs to another");
    expect(await own.get(second)).toBeUndefined();
    writeFileSync(bobFile, readFileSync(firstFile));
    await expect(vault.open("door", "bob").get(ofBob)).rejects.toThrow(CapabilityStateError);
  });

  test("a damaged entry is told to its owner and hinders no other", async () => {
    const folder = join(temporaryFolder(), "vault");
    const vault = openVault({ folder });
    const ofBob = await vault.open("door", "bob").put(SECRET);
    const own = vault.open("door", "alice");
    for (const damage of ["", "{}", "not json", '{"protected":"e30","iv":"x","ciphertext":"y","tag":"z"}']) {
      const ref = await own.put(SECRET);
      writeFileSync(entryFiles(folder).find((file) => file.includes(ref)) ?? "", damage);
      await expect(own.get(ref)).rejects.toMatchObject({
        code: "capability.state",
        hint: expect.stringContaining("rm '") as unknown,
      });
      expect(await own.replace(ref, SECRET)).toBe(true);
      expect(await own.get(ref)).toEqual(SECRET);
    }
    expect(await vault.open("door", "bob").get(ofBob)).toEqual(SECRET);
  });

  test("one changed byte is noticed", async () => {
    const folder = join(temporaryFolder(), "vault");
    const own = openVault({ folder }).open("door", "alice");
    const ref = await own.put(SECRET);
    const [file = ""] = entryFiles(folder);
    const entry = JSON.parse(readFileSync(file, "utf8")) as { ciphertext: string };
    const flipped = (entry.ciphertext.startsWith("A") ? "B" : "A") + entry.ciphertext.slice(1);
    writeFileSync(file, JSON.stringify({ ...entry, ciphertext: flipped }));
    await expect(own.get(ref)).rejects.toThrow("is damaged");
  });
});

describe("the key file", () => {
  test("is made for its owner alone when the first secret comes, not before", async () => {
    const folder = join(temporaryFolder(), "deep", "vault");
    const vault = openVault({ folder }).open("door", "alice");
    expect(await vault.get(`vlt_${"0".repeat(32)}`)).toBeUndefined();
    expect(existsSync(folder)).toBe(false);
    await vault.put(SECRET);
    expect(statSync(join(folder, "key.json")).mode & 0o777).toBe(0o600);
  });

  test("that others can read is refused, with the command that sets it right", async () => {
    const folder = join(temporaryFolder(), "vault");
    const ref = await openVault({ folder }).open("door", "alice").put(SECRET);
    const key = join(folder, "key.json");
    chmodSync(key, 0o640);
    const vault = openVault({ folder }).open("door", "alice");
    const refused = { code: "capability.state", hint: `Run \`chmod 600 '${key}'\`.` };
    await expect(vault.get(ref)).rejects.toMatchObject(refused);
    await expect(vault.put(SECRET)).rejects.toMatchObject(refused);
    chmodSync(key, 0o600);
    expect(await vault.get(ref)).toEqual(SECRET);
  });

  test.skipIf(process.getuid?.() !== 0)("that belongs to someone else is refused", async () => {
    const folder = join(temporaryFolder(), "vault");
    const ref = await openVault({ folder }).open("door", "alice").put(SECRET);
    const key = join(folder, "key.json");
    chownSync(key, NOBODY, NOBODY);
    await expect(openVault({ folder }).open("door", "alice").get(ref)).rejects.toMatchObject({
      hint: `Run \`sudo chown 0 '${key}'\`.`,
    });
  });

  test("in a folder that others can reach is refused as well", async () => {
    const folder = join(temporaryFolder(), "vault");
    const ref = await openVault({ folder }).open("door", "alice").put(SECRET);
    chmodSync(folder, 0o755);
    await expect(openVault({ folder }).open("door", "alice").get(ref)).rejects.toMatchObject({
      hint: `Run \`chmod 700 '${folder}'\`.`,
    });
  });

  test("that was replaced by a link, or damaged, is refused and its content is not shown", async () => {
    const folder = join(temporaryFolder(), "vault");
    const ref = await openVault({ folder }).open("door", "alice").put(SECRET);
    const key = join(folder, "key.json");
    const text = readFileSync(key, "utf8");
    writeFileSync(key, text.slice(0, -8));
    const damaged = openVault({ folder }).open("door", "alice").get(ref);
    await expect(damaged).rejects.toThrow("no usable `key`");
    await expect(damaged).rejects.not.toThrow(text.slice(20, 40));
    renameSync(key, `${key}.old`);
    symlinkSync(`${key}.old`, key);
    await expect(openVault({ folder }).open("door", "alice").get(ref)).rejects.toThrow("it is a link");
  });

  test("of another vault opens nothing, and says which key is missing", async () => {
    const folder = join(temporaryFolder(), "vault");
    const ref = await openVault({ folder }).open("door", "alice").put(SECRET);
    const other = join(temporaryFolder(), "vault");
    await openVault({ folder: other }).open("door", "alice").put(SECRET);
    writeFileSync(join(folder, "key.json"), readFileSync(join(other, "key.json")));
    await expect(openVault({ folder }).open("door", "alice").get(ref)).rejects.toThrow(
      "The key for a secret",
    );
  });
});

test("processes that make the key at the same time end up with the same one", async () => {
  const folder = join(temporaryFolder(), "vault");
  const writer = join(ROOT, "test/support/vault-writer.ts");
  const env = { ...COMPILED_CODE, PATH: "", NODE_NO_WARNINGS: "1" };
  const written = await Promise.all(
    ["u1", "u2", "u3", "u4"].map(async (user) => {
      const { stdout } = await promisify(execFile)(process.execPath, [writer, folder, user, "3"], { env });
      return { user, refs: JSON.parse(stdout) as readonly string[] };
    }),
  );
  for (const { user, refs } of written) {
    const own = openVault({ folder }).open("door", user);
    const secrets = await Promise.all(refs.map((ref) => own.get(ref)));
    expect(secrets).toEqual([0, 1, 2].map((number) => ({ user, number })));
  }
  expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
});
