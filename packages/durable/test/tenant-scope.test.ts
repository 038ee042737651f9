/** For whom a store is asked, also where what asks was called by a socket. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { boundToTenant, forTenant } from "@metier/durable";
import { openPostgresStore } from "@metier/durable/postgres";
import { expect, onTestFinished, test } from "vitest";
import { describeWithPostgres, newDatabase } from "../../../test/support/postgres.ts";

describeWithPostgres("a journal in Postgres", () => {
  test("bound to a tenant, is asked for it by what a socket calls, where nobody says for whom", async () => {
    const { url, adminUrl } = await newDatabase();
    const store = await openPostgresStore({ url, adminUrl });
    if (!store.ok) throw new Error(store.refusal.message);
    onTestFinished(() => store.value.close());
    const { journal } = store.value;
    const bound = boundToTenant("red", journal);
    const asked = Promise.withResolvers<readonly unknown[]>();
    await forTenant("red", async () => {
      await journal.create({ id: "run-1", tenant: "red", order: {} });
      const server = createServer((connection) => {
        connection.on("data", async () => {
          const both = [await journal.get("run-1"), await bound.get("run-1")];
          asked.resolve(both.map((run) => run?.id));
        });
      });
      onTestFinished(() => void server.close());
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const client = connect((server.address() as AddressInfo).port, "127.0.0.1", () => client.end("x"));
    });
    expect(await asked.promise).toEqual([undefined, "run-1"]);
  });
});
