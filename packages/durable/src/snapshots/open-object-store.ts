/** Opens the store that an operator named, and tries it out: what is wrong is told at the start, not by the first run. */
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
      hint: "Name a folder in which every process of the service may read and write.",
    });
  }
}

async function openS3(place: S3Place): Promise<Result<BlobStore>> {
  const store = openS3Blobs(place);
  try {
    if (await store.tryOut()) return done(store.blobs);
    return refused({
      message: `The object store at \`${place.endpoint}\` has no bucket \`${place.bucket}\`.`,
      hint: "Make the bucket, or name another one; Metier makes none.",
    });
  } catch (fault) {
    if (!(fault instanceof ObjectStoreFault)) throw fault;
    return refused({ message: `The object store cannot be used: ${fault.message}.`, hint: explain(fault) });
  }
}

const WRONG_KEY = ["InvalidAccessKeyId", "SignatureDoesNotMatch"];
const KEY_HINT =
  "Look at METIER_OBJECT_STORE_KEY and METIER_OBJECT_STORE_SECRET (or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), and at the region.";

function explain({ status, serviceCode = "" }: ObjectStoreFault): string {
  if (status === undefined) return "Look at the endpoint, and whether the store is running.";
  if (WRONG_KEY.includes(serviceCode)) return KEY_HINT;
  if (status === 403)
    return `The key may have to list, read, write and remove objects of the bucket. ${KEY_HINT}`;
  if (status === 404) return "Make the bucket, or name another one; Metier makes none.";
  if (status < 500) return "Look at the endpoint and the region: the store does not take the request.";
  return "Look at the log of the store.";
}
