/** Snapshots in an object store keep the contract; and what is special about a store on the other side of a network. */
import { randomUUID } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import {
  runObjectStore,
  startObjectStore,
  type TestObjectStore,
} from "../../../test/support/object-store.ts";
import type { BlobStore } from "../src/snapshot-store.ts";
import type { S3Place } from "../src/snapshots/object-store-place.ts";
import { openS3Blobs } from "../src/snapshots/s3-blobs.ts";
import { openObjectStore, readObjectStore } from "../src/snapshots.ts";
import { describeSnapshots } from "./contract/snapshot-contract.ts";
import { describeSharedSnapshots } from "./contract/snapshot-sharing-contract.ts";
import { newPlace } from "./contract/use-stores.ts";
import { namesOf } from "./support/blobs.ts";
import { required } from "./support/sqlite.ts";

const nameOf = (number: number, owner = "a") =>
  `${owner.repeat(16)}/${number.toString(16).padStart(64, "0")}`;

function placeOf({ address, environment }: TestObjectStore): S3Place {
  const place = required(readObjectStore(address, environment));
  if (place.kind !== "s3") throw new Error("It is an object store.");
  return place;
}

let shared: TestObjectStore;
beforeAll(async () => {
  shared = await runObjectStore();
  return shared.stop;
});

/** Each in a place of its own. */
async function openBlobs(): Promise<BlobStore> {
  const prefix = `metier/${randomUUID()}/`;
  return required(await openObjectStore({ ...placeOf(shared), prefix }));
}

describeSnapshots("in an object store", openBlobs);
describeSharedSnapshots("in an object store", openBlobs);

test("blobs are listed over many pages, by prefix, beside whatever else lies in the bucket", async () => {
  const store = await startObjectStore();
  const place = placeOf(store);
  const blobs = required(await openObjectStore(place));
  const names = Array.from({ length: 1_203 }, (_, number) => nameOf(number, number % 2 === 0 ? "a" : "b"));
  for (let at = 0; at < names.length; at += 100) {
    await Promise.all(names.slice(at, at + 100).map((name) => blobs.put(name, Buffer.from(name))));
  }
  const neighbour = openS3Blobs({ ...place, prefix: "metier/other/" }).blobs;
  await neighbour.put(nameOf(1), Buffer.from("x"));
  expect(await namesOf(blobs)).toEqual(names.toSorted());
  expect(await namesOf(blobs, "bbbb")).toHaveLength(601);
  expect(await namesOf(neighbour)).toEqual([nameOf(1)]);
  for await (const { bytes, storedAt } of blobs.entries("a")) {
    expect(bytes).toBe(81);
    expect(Math.abs(storedAt - Date.now())).toBeLessThan(3_600_000);
  }
});

test("a blob is there with its time once it is stored, and not once it is removed", async () => {
  const blobs = await openBlobs();
  expect([await blobs.storedAt(nameOf(1)), await blobs.get(nameOf(1))]).toEqual([undefined, undefined]);
  await blobs.put(nameOf(1), Buffer.from("content"));
  expect(await blobs.storedAt(nameOf(1))).toEqual(expect.any(Number));
  expect(Buffer.from((await blobs.get(nameOf(1))) ?? []).toString()).toBe("content");
  await blobs.delete(nameOf(1));
  await blobs.delete(nameOf(1));
  expect([await blobs.storedAt(nameOf(1)), await blobs.get(nameOf(1))]).toEqual([undefined, undefined]);
  for (const name of ["../x", "", "check"]) {
    await expect((async () => blobs.get(name))()).rejects.toThrow("not a blob name");
  }
});

test("a wrong bucket, a wrong key and a store that is not there are told at the start", async () => {
  const store = await startObjectStore();
  const place = placeOf(store);
  const refusalOf = async (more: Partial<S3Place>) => {
    const opened = await openObjectStore({ ...place, ...more });
    if (opened.ok) throw new Error("It was opened.");
    expect(JSON.stringify(opened)).not.toContain("hunter2");
    return `${opened.refusal.message} ${opened.refusal.hint}`;
  };
  expect(await refusalOf({ bucket: "another-one" })).toMatch(/no bucket `another-one`.*Create the bucket/);
  expect(await refusalOf({ accessKey: "nobody" })).toMatch(/InvalidAccessKeyId.*METIER_OBJECT_STORE_KEY/);
  expect(await refusalOf({ secretKey: "hunter2" })).toMatch(
    /SignatureDoesNotMatch.*METIER_OBJECT_STORE_SECRET/,
  );
  await store.stop();
  expect(await refusalOf({})).toMatch(/cannot be reached.*endpoint/);
});

async function startFaulty(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function faulty(endpoint: string): BlobStore {
  const place: S3Place = {
    kind: "s3",
    bucket: "bucket",
    prefix: "",
    endpoint,
    region: "us-east-1",
    accessKey: "key",
    secretKey: "secret",
  };
  return openS3Blobs(place, { requestMs: 300, attempts: 3, pauseMs: 1 }).blobs;
}

test("a store that fails for a moment is asked again, and no longer than a few times", async () => {
  let asked = 0;
  let failures = 2;
  const endpoint = await startFaulty((_, response) => {
    asked += 1;
    response.writeHead(asked <= failures ? 503 : 200).end("content");
  });
  expect(Buffer.from((await faulty(endpoint).get(nameOf(1))) ?? []).toString()).toBe("content");
  expect(asked).toBe(3);
  [asked, failures] = [0, 100];
  await expect(faulty(endpoint).get(nameOf(1))).rejects.toThrow("answered 503");
  expect(asked).toBe(3);
});

test("what a store refuses is not asked for again", async () => {
  let asked = 0;
  const endpoint = await startFaulty((_, response) => {
    asked += 1;
    response.writeHead(403, { "content-type": "application/xml" });
    response.end("<Error><Code>AccessDenied</Code></Error>");
  });
  await expect(faulty(endpoint).put(nameOf(1), Buffer.from("x"))).rejects.toThrow("403 (AccessDenied)");
  expect(asked).toBe(1);
});

test("a store that hangs, before its answer or in the middle of it, and one that hangs up, are given up", async () => {
  let answer: RequestListener = () => undefined;
  const endpoint = await startFaulty((request, response) => answer(request, response));
  await expect(faulty(endpoint).get(nameOf(1))).rejects.toThrow("did not answer in time");
  answer = (_, response) => void response.writeHead(200, { "content-length": "10" }).write("half");
  await expect(faulty(endpoint).get(nameOf(1))).rejects.toThrow("did not answer in time");
  answer = (request) => void request.socket.destroy();
  await expect(faulty(endpoint).get(nameOf(1))).rejects.toThrow("cannot be reached");
});

test("a store that leads elsewhere is not followed", async () => {
  let followed = 0;
  const elsewhere = await startFaulty((_, response) => {
    followed += 1;
    response.end("content");
  });
  const endpoint = await startFaulty(
    (_, response) => void response.writeHead(307, { location: elsewhere }).end(),
  );
  await expect(faulty(endpoint).get(nameOf(1))).rejects.toThrow("307");
  expect(followed).toBe(0);
});

const KEYS = { METIER_OBJECT_STORE_KEY: "key", METIER_OBJECT_STORE_SECRET: "hunter2" };

test("an address is read into its parts, with the credentials of the environment", () => {
  const read = (text: string, environment = {}) =>
    required(readObjectStore(text, { ...KEYS, ...environment }));
  expect(read("s3://bucket/a/b?endpoint=http://127.0.0.1:9000/&region=eu-1")).toEqual({
    kind: "s3",
    bucket: "bucket",
    prefix: "a/b/",
    endpoint: "http://127.0.0.1:9000",
    region: "eu-1",
    accessKey: "key",
    secretKey: "hunter2",
  });
  expect(read("s3://bucket?region=eu-central-1")).toMatchObject({
    prefix: "",
    endpoint: "https://s3.eu-central-1.amazonaws.com",
  });
  expect(read("s3://bucket/x/", { AWS_REGION: "us-west-2" })).toMatchObject({
    prefix: "x/",
    region: "us-west-2",
  });
  expect(read("file:///srv/blobs")).toEqual({ kind: "folder", folder: "/srv/blobs" });
  const usual = { AWS_ACCESS_KEY_ID: "aws", AWS_SECRET_ACCESS_KEY: "hunter3" };
  expect(required(readObjectStore("s3://bucket?region=x", usual))).toMatchObject({ accessKey: "aws" });
  expect(read("s3://bucket?region=x", { ...usual, AWS_SESSION_TOKEN: "t" })).toMatchObject({
    accessKey: "key",
  });
});

test.each([
  ["", "not a URL"],
  ["bucket", "not a URL"],
  ["https://bucket", "starts with"],
  ["s3://", "bucket"],
  ["s3://ab?region=x", "bucket"],
  ["s3://Bucket_x?region=x", "bucket"],
  ["s3://bucket:9000/x?region=x", "bucket"],
  ["s3://bucket/a//b?region=x", "prefix"],
  ["s3://bucket/%2e%2e%2fx?region=x", "prefix"],
  ["s3://bucket/ü?region=x", "prefix"],
  ["s3://bucket/x?region=x#y", "prefix"],
  ["s3://bucket/x", "neither an endpoint nor a region"],
  ["s3://bucket/x?region=", "region"],
  ["s3://bucket/x?region=a/b", "region"],
  ["s3://bucket/x?endpoint=", "endpoint"],
  ["s3://bucket/x?endpoint=ftp://127.0.0.1", "endpoint"],
  ["s3://bucket/x?endpoint=http://h?x=1", "endpoint"],
  ["s3://bucket/x?region=a&region=b", "twice"],
  ["s3://bucket/x?region=a&acl=public", "acl"],
  ["s3://key:hunter2@bucket/x?region=a", "credentials"],
  ["s3://bucket/x?region=a&secret=hunter2", "credentials"],
  ["s3://bucket/x?endpoint=http://key:hunter2@host", "credentials"],
  ["file://host/folder", "more than a folder"],
  ["file:///", "not a folder"],
  ["file:///a%2Fb", "not a folder"],
  ["file:///a?x", "more than a folder"],
])("the address %s is refused", (text, why) => {
  const read = readObjectStore(text, KEYS);
  expect(read).toMatchObject({
    ok: false,
    refusal: { message: expect.stringContaining(why), hint: expect.any(String) },
  });
  expect(JSON.stringify(read)).not.toContain("hunter2");
});

test.each([
  [{}, "needs a key"],
  [{ METIER_OBJECT_STORE_KEY: "key" }, "`METIER_OBJECT_STORE_SECRET` is not"],
  [{ AWS_SECRET_ACCESS_KEY: "hunter2" }, "`AWS_ACCESS_KEY_ID` is not"],
  [{ AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "hunter2", AWS_SESSION_TOKEN: "t" }, "AWS_SESSION_TOKEN"],
])("credentials %j are refused", (environment, why) => {
  const read = readObjectStore("s3://bucket?region=x", environment);
  expect(read).toMatchObject({ ok: false, refusal: { message: expect.stringContaining(why) } });
  expect(JSON.stringify(read)).not.toContain("hunter2");
});

test("a folder that cannot be used is refused at the start", async () => {
  const folder = join(newPlace(), "a", "b");
  const blobs = required(await openObjectStore({ kind: "folder", folder }));
  await blobs.put(nameOf(1), Buffer.from("x"));
  expect(await namesOf(blobs)).toEqual([nameOf(1)]);
  const wrong = await openObjectStore({ kind: "folder", folder: "/dev/null/x" });
  expect(wrong).toMatchObject({ ok: false, refusal: { hint: expect.stringContaining("every process") } });
});
