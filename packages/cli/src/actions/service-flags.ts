/** Options that `metier serve` and `metier worker` share: numbers, and where many processes keep their runs. */
import { UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import type { Environment } from "@metier/base/programs";
import type { WorkerFlags } from "../commands/connecting.ts";
import type { CliContext } from "../context.ts";
import { homeFolder } from "../open-metier.ts";

/** A process that is told to end is gone within ten seconds. */
export const STOP_MS = 7_000;

const MOST_LEASE_SECONDS = 3600;
const MOST_GIBIBYTES = 1024 ** 2;
const MOST_ANSWER_SECONDS = 365 * 24 * 3600;
const MOST_SLOTS = 1_000;

/** The environment variables for the database and the object store. */
const DATABASE = "METIER_DATABASE_URL";
const OBJECT_STORE = "METIER_OBJECT_STORE";

interface SharedPlaces {
  readonly database: string;
  readonly objectStore: string;
}

/** `leastSlots` is 0 for a process that does more than advance runs. */
export function readServiceFlags(context: CliContext, flags: WorkerFlags, leastSlots: 0 | 1) {
  const gibibytes = readNumber("snapshots", flags.snapshots, 1, MOST_GIBIBYTES);
  const shared = readSharedPlaces(context, flags);
  const slots = readNumber("slots", flags.slots, leastSlots, MOST_SLOTS);
  if (slots === 0 && shared === undefined) {
    throw new UsageError(
      "`--slots 0` leaves nothing to advance runs: without a database, workers can't share them.",
      {
        hint: "Pass `--slots 1` or more, or pass `--database` and `--object-store` and start `metier worker`.",
      },
    );
  }
  return {
    ...presentFields({
      port: readNumber("port", flags.port, 0, 65_535),
      leaseMs: readSeconds("lease", flags.lease, MOST_LEASE_SECONDS),
      questionMs: readSeconds("answer-within", flags.answerWithin, MOST_ANSWER_SECONDS),
      slots,
      host: flags.host,
      home: homeFolder(context, flags),
      shared,
    }),
    ...(gibibytes !== undefined && { snapshots: { bytesPerTenant: gibibytes * 1024 ** 3 } }),
    environment: context.io.environment,
  };
}

/** `undefined` keeps everything under the home folder. One without the other is a mistake. */
function readSharedPlaces({ io: { environment } }: CliContext, flags: WorkerFlags): SharedPlaces | undefined {
  const database = flags.database ?? readVariable(environment, DATABASE);
  const objectStore = flags.objectStore ?? readVariable(environment, OBJECT_STORE);
  if (database === undefined && objectStore === undefined) return undefined;
  if (database === undefined) {
    throw new UsageError("An object store is set, but no database to share.", {
      hint: `Pass \`--database postgres://…\` or set ${DATABASE}, or leave out \`--object-store\` and ${OBJECT_STORE}.`,
    });
  }
  if (!/^postgres(ql)?:\/\//.test(database)) {
    throw new UsageError("`--database` is not the address of a Postgres database.", {
      hint: "Write it like `postgres://user@host:5432/name`. Put a password in METIER_DATABASE_URL, where other users of this machine can't see it.",
    });
  }
  if (objectStore === undefined) {
    throw new UsageError("A database is set, but no object store for work folders and skills.", {
      hint: `Pass \`--object-store s3://bucket?endpoint=…\`, or \`file:///folder\` for a folder that all machines share, or set ${OBJECT_STORE}.`,
    });
  }
  return { database, objectStore };
}

/** An empty variable is a mistake: without it, everything would silently stay under the home folder. */
function readVariable(environment: Environment, name: string): string | undefined {
  const value = environment[name]?.trim();
  if (value !== "") return value;
  throw new UsageError(`\`${name}\` is empty.`, { hint: "Set it to an address, or unset it." });
}

function readNumber(name: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`\`--${name} ${text}\` is not a number from ${least} to ${most}.`, {
    hint: `Pass a whole number, such as \`--${name} ${Math.max(least, 8080 % most)}\`.`,
  });
}

function readSeconds(name: string, text: string | undefined, most: number): number | undefined {
  const seconds = readNumber(name, text, 1, most);
  return seconds === undefined ? undefined : seconds * 1000;
}
