/** A database and an object store for the processes of one test: what they need of their environment to share them. */
import { onTestFinished } from "vitest";
import { startObjectStore } from "../../scripts/postgres/object-store.mjs";
import { newDatabase, type TestDatabase } from "./postgres.ts";
import { temporaryFolder } from "./temporary.ts";

export interface SharedPlaces {
  readonly database: TestDatabase;
  /** `s3://…`, and where its bytes lie. */
  readonly objectStore: string;
  readonly objectFolder: string;
  /** Both, with the keys for them, and the role that migrates. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Of all services in tests that share something. */
export const MASTER_KEY = "5eed".repeat(16);

/** Nothing is in them. With a folder of objects, the database is quite empty, too, as for a backup that is restored. */
export async function newSharedPlaces(objects?: string): Promise<SharedPlaces> {
  const objectFolder = objects ?? temporaryFolder();
  const store = await startObjectStore({ folder: objectFolder });
  onTestFinished(() => store.stop());
  const place = await newDatabase({ isEmpty: objects !== undefined });
  return {
    database: place,
    objectFolder,
    objectStore: store.url,
    environment: {
      ...store.environment,
      METIER_MASTER_KEY: MASTER_KEY,
      METIER_DATABASE_URL: place.url,
      METIER_DATABASE_ADMIN_URL: place.adminUrl,
      METIER_OBJECT_STORE: store.url,
    },
  };
}
