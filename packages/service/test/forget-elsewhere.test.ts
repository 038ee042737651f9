/** What other machines keep of a deleted user or tenant: each forgets it once, also one that was off meanwhile. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { forAllTenants, forTenant } from "@metier/durable";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import type { ServiceContext } from "../src/service-context.ts";
import { startForgetting, tellMachines } from "../src/tenants/forget-elsewhere.ts";
import { openStores, type SharedStores, useObjectStore } from "./support/shelves.ts";

useObjectStore();

const ADA = "ada.lovelace@acme.example";

/** `file`: that of a machine before, as after a restart. */
function openMachine({ records, keys }: SharedStores, file = join(temporaryFolder(), "forgotten")) {
  const gone: string[] = [];
  const faults: unknown[] = [];
  const context = {
    records,
    tenantKeys: keys,
    now: Date.now,
    log: { fault: (_: string, fault: unknown) => faults.push(fault) },
    forget: {
      notes: file,
      user: async (tenant: string, userId: string) => void gone.push(`${userId} of ${tenant}`),
      tenant: async (tenant: string) => void gone.push(tenant),
    },
  } as unknown as ServiceContext;
  const start = () => {
    const forgetting = startForgetting(context);
    onTestFinished(() => forgetting?.stop());
    return forgetting;
  };
  return { context, file, gone, faults, start };
}

const tell = ({ context }: ReturnType<typeof openMachine>, tenant: string, userId?: string) =>
  forTenant(tenant, () => tellMachines(context, { tenant, userId }));

test("each machine forgets a deleted user once; one that was off does when it starts; the store names nobody", async () => {
  const stores = await openStores();
  const [here, there] = [openMachine(stores), openMachine(stores)];
  await tell(here, "t_acme", ADA);
  const kept = await forAllTenants(() => stores.records.listAll("forgotten"));
  expect([kept.length, JSON.stringify(kept).includes(ADA)]).toEqual([1, false]);
  await here.start()?.stop();
  expect(here.gone).toEqual([`${ADA} of t_acme`]);
  await here.start()?.stop();
  const again = openMachine(stores, here.file);
  await again.start()?.stop();
  expect([here.gone.length, again.gone]).toEqual([1, []]);
  await tell(here, "t_acme", "bob");
  await again.start()?.stop();
  expect(again.gone).toEqual(["bob of t_acme"]);
  await there.start()?.stop();
  expect(there.gone).toEqual([`${ADA} of t_acme`, "bob of t_acme"]);
  expect([...here.faults, ...again.faults, ...there.faults]).toEqual([]);
});

test("a note that is damaged lets a machine forget once more", async () => {
  const stores = await openStores();
  const here = openMachine(stores);
  await tell(here, "t_acme", ADA);
  await here.start()?.stop();
  writeFileSync(here.file, Buffer.from([0, 255, 0]));
  await here.start()?.stop();
  expect(here.gone).toHaveLength(2);
});

test("of a deleted tenant everything goes, its users too, and no key is made for it again", async () => {
  const stores = await openStores();
  const [here, there] = [openMachine(stores), openMachine(stores)];
  await tell(here, "t_acme", ADA);
  await tell(here, "t_acme");
  await stores.keys.destroy("t_acme");
  await there.start()?.stop();
  expect([there.gone, there.faults]).toEqual([["t_acme"], []]);
  expect(await forAllTenants(() => stores.records.listAll("tenant-key"))).toEqual([]);
});

test("on the only machine nobody is told", async () => {
  const stores = await openStores();
  const here = openMachine(stores);
  const alone = { ...here.context, forget: { ...here.context.forget, notes: undefined } };
  await tellMachines(alone, { tenant: "t_acme", userId: ADA });
  expect(startForgetting(alone)).toBeUndefined();
  expect(await forAllTenants(() => stores.records.listAll("forgotten"))).toEqual([]);
});
