/**
 * Opens the store that an operator configured, and tests it: problems are reported at startup, not by the first run.
 */
import { accessSync, constants, mkdirSync } from "node:fs";
import { sayFault } from "@metier/base/diagnostic";
import { done, type Result, refused } from "@metier/base/result";
import type { BlobStore } from "../snapshot-store.ts";
import { openFolderBlobs } from "./folder-blobs.ts";
import type { ObjectStorePlace, S3Place } from "./object-store-place.ts";
import { ObjectStoreFault, openS3Blobs } from "./s3-blobs.ts";

export async function openObjectStore(place: ObjectStorePlace): Promise<Result<BlobStore>> {
  if (place.kind === "s3") return openS3(place);
  try {
    mkdirSync(place.folder, { recursive: true, mode: 0o700 });
    accessSync(place.folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return done(openFolderBlobs(place.folder));
  } catch (fault) {
    return refused({
      message: `The object store cannot be used: ${sayFault(fault)}`,
      hint: "Use a folder that every process of the service can read and write.",
    });
  }
}

async function openS3(place: S3Place): Promise<Result<BlobStore>> {
  const store = openS3Blobs(place);
  try {
    if (await store.tryOut()) return done(store.blobs);
    return refused({
      message: `The object store at \`${place.endpoint}\` has no bucket \`${place.bucket}\`.`,
      hint: "Create the bucket, or use another one; Metier does not create buckets.",
    });
  } catch (fault) {
    if (!(fault instanceof ObjectStoreFault)) throw fault;
    return refused({ message: `The object store cannot be used: ${fault.message}.`, hint: explain(fault) });
  }
}

const WRONG_KEY = ["InvalidAccessKeyId", "SignatureDoesNotMatch"];
const KEY_HINT =
  "Check METIER_OBJECT_STORE_KEY and METIER_OBJECT_STORE_SECRET (or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), and the region.";

function explain({ status, serviceCode = "" }: ObjectStoreFault): string {
  if (status === undefined) return "Check the endpoint, and that the store is running.";
  if (WRONG_KEY.includes(serviceCode)) return KEY_HINT;
  if (status === 403)
    return `The key must be allowed to list, read, write and delete objects in the bucket. ${KEY_HINT}`;
  if (status === 404) return "Create the bucket, or use another one; Metier does not create buckets.";
  if (status < 500) return "Check the endpoint and the region: the store rejects the request.";
  return "Check the store's log.";
}
