/** Health, metrics, logs, slow clients, and stopping. */
import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { ADMIN_KEY } from "../../../test/support/follow-events.ts";
import { openService } from "./support/open-service.ts";

test("it says that it is alive and ready, to anybody", async () => {
  const service = await openService();
  expect((await service.call("GET", "/livez", { key: null })).body).toEqual({ status: "ok" });
  expect((await service.call("GET", "/readyz", { key: null })).body).toEqual({ status: "ok" });
});

test("metrics are for this machine and for admins, and not for what a proxy passes on or a page of another name", async () => {
  const service = await openService();
  const id = await service.start("");
  await service.settle(id, "completed");
  const local = await service.call("GET", "/metrics", { key: null });
  expect(local.status).toBe(200);
  expect(local.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(local.text).toContain('metier_http_requests_total{method="POST",route="/v1/runs",status="201"} 1');
  expect(local.text).toContain("metier_runs_started_total 1");
  expect(local.text).toMatch(/^metier_engine_runs\{state="parked"\} 0$/m);
  const headers = { "X-Forwarded-For": "203.0.113.9" };
  expect((await service.call("GET", "/metrics", { key: null, headers })).status).toBe(401);
  expect((await service.call("GET", "/metrics", { headers })).status).toBe(200);
  const reader = await service.makeKey(["read"]);
  expect((await service.call("GET", "/metrics", { key: reader, headers })).status).toBe(403);
});

test("every line of a metric is well-formed, and no id is in them", async () => {
  const service = await openService();
  const id = await service.start("");
  await service.settle(id, "completed");
  const { text } = await service.call("GET", "/metrics");
  const lines = text.trimEnd().split("\n");
  expect(
    lines.filter(
      (line) => !/^(# (HELP|TYPE) \w+ .+|\w+(\{[^{}]+(\{[^{}]+\}[^{}]*)*\})? [\d.e+-]+)$/.test(line),
    ),
  ).toEqual([]);
  expect(text).not.toContain(id);
});

test("a request is logged by its route, with no path, query, key or body in it", async () => {
  const service = await openService();
  const id = await service.start("a message with hunter2");
  await service.call("GET", `/v1/runs/${id}?x=hunter2`);
  await service.call("GET", "/v1/hunter2");
  const log = service.log.join("\n");
  expect(log).not.toMatch(/hunter2|an-admin-key/);
  expect(log).not.toContain(id);
  expect(service.log.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({
      level: "info",
      message: "request",
      method: "POST",
      route: "/v1/runs",
      status: 201,
    }),
  );
});

test("a client that sends what is no HTTP is refused, and the next is served", async () => {
  const service = await openService();
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.write("nonsense\r\n\r\n");
  const [answer] = await once(socket, "data");
  expect(String(answer)).toMatch(/^HTTP\/1\.1 400 /);
  socket.destroy();
  expect((await service.call("GET", "/livez")).status).toBe(200);
});

test("stopping ends open streams, gives runs back and refuses nothing that was under way", async () => {
  const service = await openService();
  const id = await service.start("approve bash");
  await service.settle(id, "waiting");
  const stream = await fetch(`${service.url}/v1/runs/${id}/events`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
  const { hostname, port } = new URL(service.url);
  const body = JSON.stringify({ skill: "greet", message: "" });
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /v1/runs HTTP/1.1\r\nHost: x\r\nx-api-key: ${ADMIN_KEY}\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  const [goOn] = await once(socket, "data");
  expect(String(goOn)).toMatch(/^HTTP\/1\.1 100 /);
  const stopped = service.stop(5_000);
  socket.write(body);
  const [answer] = await once(socket, "data");
  expect(String(answer)).toMatch(/^HTTP\/1\.1 201 /);
  expect(await stream.text()).toContain("run-started");
  await stopped;
  await expect(fetch(`${service.url}/livez`)).rejects.toThrow();
});

test("a port that is taken is told with what to do", async () => {
  const service = await openService();
  const port = Number(new URL(service.url).port);
  await expect(openService({ port })).rejects.toThrow(`Cannot listen on \`127.0.0.1\`, port ${port}`);
});
