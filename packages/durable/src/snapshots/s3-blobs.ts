/**
 * Blobs in an object store with the S3 API. Each request has a timeout and is retried a few times: requests can be
 * repeated without harm. Only sizes and times in the store's answers are trusted, because every blob is encrypted and
 * checked by whoever opens it.
 */
import { setTimeout as wait } from "node:timers/promises";
import { S3mini, S3NetworkError, S3ServiceError } from "s3mini";
import type { BlobStore, StoredBlob } from "../snapshot-store.ts";
import { BLOB_NAME } from "./folder-blobs.ts";
import type { S3Place } from "./object-store-place.ts";

interface S3Times {
  /** For one request and its answer. Default: 30 s. */
  readonly requestMs?: number | undefined;
  /** How many attempts before a request fails. Default: 5. */
  readonly attempts?: number | undefined;
  /** Before the second attempt; doubles before each further one. Default: 200 ms. */
  readonly pauseMs?: number | undefined;
}

const PAGE = 1_000;
const MOST_PAUSE_MS = 5_000;
/** Larger than any stored blob. */
const MOST_BYTES = 512 * 1024 ** 2;

interface S3Store {
  readonly blobs: BlobStore;
  /** Lists, writes and removes an object; rejects with the store's error. `false`: the bucket doesn't exist. */
  tryOut(): Promise<boolean>;
}

export function openS3Blobs(
  place: S3Place,
  { requestMs = 30_000, attempts = 5, pauseMs = 200 }: S3Times = {},
): S3Store {
  const { bucket, prefix, endpoint, region, accessKey, secretKey } = place;
  const store = new S3mini({
    endpoint: `${endpoint}/${bucket}`,
    region,
    accessKeyId: accessKey,
    secretAccessKey: secretKey,
    requestAbortTimeout: requestMs,
    // Redirects aren't followed: a signed request is for this store only.
    fetch: (input, init) => fetch(input, { ...init, redirect: "manual" }),
  });
  const ask = <Value>(request: () => Promise<Value>): Promise<Value> =>
    insist(request, { place, attempts, pauseMs });
  const keyOf = (name: string): string => {
    if (!BLOB_NAME.test(name)) throw new Error(`\`${name}\` is not a blob name.`);
    return `${prefix}${name}`;
  };
  const listPage = (under: string, limit: number, token: string | undefined) =>
    ask(() => store.listObjectsPaged("/", `${prefix}${under}`, limit, token));
  return {
    blobs: {
      storedAt: (name) => ask(() => findTime(store, keyOf(name))),
      async put(name, bytes) {
        await ask(() => store.putObject(keyOf(name), bytes));
      },
      get: (name) => ask(() => readObject(store, keyOf(name))),
      async delete(name) {
        await ask(() => store.deleteObject(keyOf(name)));
      },
      async *entries(under): AsyncGenerator<StoredBlob> {
        let token: string | undefined;
        do {
          const page = await listPage(under, PAGE, token);
          if (!page) throw new Error(`The object store's bucket \`${bucket}\` is gone.`);
          for (const { Key, Size, LastModified } of page.objects ?? []) {
            const name = Key.slice(prefix.length);
            // Anything else there belongs to someone else.
            if (BLOB_NAME.test(name)) yield { name, bytes: Size, storedAt: LastModified.getTime() };
          }
          token = page.nextContinuationToken;
        } while (token !== undefined);
      },
    },
    async tryOut() {
      if (!(await listPage("", 1, undefined))) return false;
      const key = `${prefix}check`;
      await ask(() => store.putObject(key, "Metier looks whether it may write here."));
      await ask(() => store.deleteObject(key));
      return true;
    },
  };
}

/** Retries a few times if the request may succeed a moment later. */
async function insist<Value>(
  request: () => Promise<Value>,
  {
    place,
    attempts,
    pauseMs,
  }: { readonly place: S3Place; readonly attempts: number; readonly pauseMs: number },
): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request();
    } catch (fault) {
      if (attempt >= attempts || !isPassing(fault)) throw describeFault(fault, place);
      const pause = Math.min(MOST_PAUSE_MS, pauseMs * 2 ** (attempt - 1));
      await wait(pause * (0.5 + Math.random() / 2));
    }
  }
}

/** Requests the first byte, because the answer to `HEAD` comes without its headers here. */
async function findTime(store: S3mini, key: string): Promise<number | undefined> {
  try {
    const response = await store.getObjectRaw(key, false, 0, 1);
    await response.body?.cancel();
    const time = Date.parse(response.headers.get("last-modified") ?? "");
    // Without a time, the blob counts as just stored, so it stays.
    return Number.isNaN(time) ? Date.now() : time;
  } catch (fault) {
    if (fault instanceof S3ServiceError && fault.status === 404) return undefined;
    throw fault;
  }
}

async function readObject(store: S3mini, key: string): Promise<Uint8Array | undefined> {
  const response = await store.getObjectResponse(key);
  if (response === null) return undefined;
  if (Number(response.headers.get("content-length")) > MOST_BYTES) {
    await response.body?.cancel();
    throw new Error(`The object \`${key}\` in the object store is larger than any Metier stores.`);
  }
  return new Uint8Array(await response.arrayBuffer());
}

/** Whether the same request may succeed a moment later. */
function isPassing(fault: unknown): boolean {
  if (fault instanceof S3ServiceError) {
    const { status, serviceCode } = fault;
    // At midnight, the client signs for the new day with the old day's key until it has made the new key.
    return status >= 500 || status === 429 || status === 408 || serviceCode === "SignatureDoesNotMatch";
  }
  if (fault instanceof S3NetworkError) return true;
  return fault instanceof Error && (fault.name === "TimeoutError" || fault instanceof TypeError);
}

/** Names the store, but never a key. */
function describeFault(fault: unknown, { bucket, endpoint }: S3Place): unknown {
  const where = `the object store at \`${endpoint}\`, bucket \`${bucket}\``;
  if (fault instanceof S3ServiceError) {
    const { status, serviceCode = "Unknown" } = fault;
    return new ObjectStoreFault(
      `${where}, answered ${status} (${serviceCode})`,
      { status, serviceCode },
      fault,
    );
  }
  if (fault instanceof Error && fault.name === "TimeoutError") {
    return new ObjectStoreFault(`${where}, did not answer in time`, {}, fault);
  }
  if (fault instanceof S3NetworkError || fault instanceof TypeError) {
    const { code = (fault.cause as NodeJS.ErrnoException | undefined)?.code ?? fault.message } =
      fault as NodeJS.ErrnoException;
    return new ObjectStoreFault(`${where}, cannot be reached (${code})`, {}, fault);
  }
  return fault;
}

export class ObjectStoreFault extends Error {
  override readonly name = "ObjectStoreFault";
  /** From the store's answer; `undefined` if it didn't answer. */
  readonly status: number | undefined;
  readonly serviceCode: string | undefined;
  constructor(
    message: string,
    answer: { readonly status?: number; readonly serviceCode?: string },
    cause: unknown,
  ) {
    super(message, { cause });
    this.status = answer.status;
    this.serviceCode = answer.serviceCode;
  }
}
