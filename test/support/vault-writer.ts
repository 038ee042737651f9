/** A process that puts secrets into a vault: `node vault-writer.ts <folder> <user> <count>`; prints the references. */
import { findKeychain, openVault } from "@metier/capabilities/broker";

const [folder = "", user = "", count = "1"] = process.argv.slice(2);
const keychain = findKeychain(process.env, "linux");
const own = openVault({ folder, keychain }).open("door", user);
const refs: string[] = [];
for (let number = 0; number < Number(count); number++) refs.push(await own.put({ user, number }));
process.stdout.write(JSON.stringify(refs));
