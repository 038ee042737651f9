/** A run as one file: what is in it, and who gets it. */
import { expect, test } from "vitest";
import type { ExportedRun } from "../src/runs/export-run.ts";
import { openService } from "./support/open-service.ts";

const page = {
  find: () => undefined,
  exportView: (view: ExportedRun) => `<!doctype html>${JSON.stringify(view)}`,
};

function readView(text: string): ExportedRun {
  return JSON.parse(text.replace("<!doctype html>", "")) as ExportedRun;
}

test("a run is given as one file, to be saved and not to be shown, with the answers of the API in it", async () => {
  const service = await openService({ page });
  const id = await service.start("say 2");
  const run = await service.settle(id, "completed");
  const { status, text, headers } = await service.call("GET", `/v1/runs/${id}/export.html`);
  expect(status).toBe(200);
  expect(headers.get("content-disposition")).toBe(`attachment; filename="run-${id}.html"`);
  expect(headers.get("content-security-policy")).toContain("sandbox");
  const view = readView(text);
  expect(view).toMatchObject({ title: "Run of greet", address: `/run/${id}` });
  expect(view.answers[`/v1/runs/${id}`]).toEqual(run);
  const listed = await service.call("GET", `/v1/runs/${id}/events?as=list`);
  expect(view.answers[`/v1/runs/${id}/events`]).toEqual(listed.body.data);
  expect(listed.body.data?.map(({ seq }) => seq)).toEqual(
    Array.from({ length: Number(run.events) }, (_, index) => index + 1),
  );
});

test("events as a list go on behind the one that was seen last", async () => {
  const service = await openService();
  const id = await service.start("say 2");
  const { events } = await service.settle(id, "completed");
  const { body } = await service.call("GET", `/v1/runs/${id}/events?as=list&after=1`);
  expect(body.data?.[0]).toMatchObject({ seq: 2 });
  expect(body.data).toHaveLength(Number(events) - 1);
});

test("nothing of the server's folders is in the file", async () => {
  const service = await openService({ page });
  const id = await service.start("leak");
  await service.settle(id, "completed");
  const { text } = await service.call("GET", `/v1/runs/${id}/export.html`);
  expect(text).toContain("events");
  expect(text).not.toContain(service.folder);
});

test("another tenant gets nothing, and without a page there is nothing to give", async () => {
  const service = await openService({ page });
  const id = await service.start("say 1");
  const { key } = await service.makeTenant("acme");
  expect((await service.call("GET", `/v1/runs/${id}/export.html`, { key })).status).toBe(404);
  const bare = await openService();
  const other = await bare.start("say 1");
  const { status, body } = await bare.call("GET", `/v1/runs/${other}/export.html`);
  expect([status, body.error?.code]).toEqual([404, "no_page"]);
});
