/**
 * Decides what a run sees of the machine. Trusted: the working directory and what the user granted; untrusted: only the
 * work folder and skill folder. Homes, Metier's own folders, config files and `.env*` are always hidden.
 */
import { statSync } from "node:fs";
import { sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Diagnostic } from "@metier/base/diagnostic";
import { isInside, type Places, realPathOr } from "@metier/base/places";
import { once } from "@metier/base/turns";
import type { Trust } from "@metier/skills";
import { trustAllows } from "@metier/skills/trust";
import {
  findGuarded,
  findLink,
  findPrivatePlaces,
  MAX_FOUND,
  MAX_SCANNED,
  PROTECTED_NAMES,
  type PrivatePlaces,
  protectedPathsIn,
  whyPrivate,
} from "./private-places.ts";
import { accessTo, isSecretName, type World } from "./world.ts";

export interface WorldRequest {
  /** The run's trust, already lowered to its caller's. */
  readonly trust: Trust;
  /** Absent: the run works only on its own folders and what was granted. */
  readonly cwd?: string | undefined;
  /** Must exist. */
  readonly workDir: string;
  readonly skillDir?: string | undefined;
  /** What the skill stores across its runs, and the part it may only read; must exist. */
  readonly dataDir?: string | undefined;
  readonly globalDataDir?: string | undefined;
  /** Folders that appear in the skill's folder. */
  readonly placed?: World["placed"] | undefined;
  /** Folders of other skills whose instructions are being followed; read-only. */
  readonly otherSkills?: readonly string[];
  /** The user's `--write`: the working directory may be changed. */
  readonly write: boolean;
  readonly places: Places;
  /** Config files and others that contain secrets. */
  readonly privateFiles: readonly string[];
  /** More absolute paths that the skill declares and the user's config grants. */
  readonly grantedRead?: readonly string[];
  readonly grantedWrite?: readonly string[];
  /** The world of the parent run: only the run's own folders go beyond it. */
  readonly within?: World | undefined;
}

export interface BuiltWorld {
  readonly world: World;
  /** What was requested but is hidden or read-only, with the reason; more may follow when `world` is first used. */
  readonly diagnostics: readonly Diagnostic[];
}

export function buildWorld(request: WorldRequest): BuiltWorld {
  const { trust, places, within } = request;
  const diagnostics: Diagnostic[] = [];
  const cwd = realIfGiven(request.cwd);
  const workDir = realPathOr(request.workDir);
  const skillDir = realIfGiven(request.skillDir);
  const dataDir = realIfGiven(request.dataDir);
  const globalDataDir = realIfGiven(request.globalDataDir);
  const own = [workDir, dataDir].filter((path) => path !== undefined);
  const hidden = once(() => findPrivatePlaces(places, request.privateFiles));

  const mayRead = trustAllows(trust, "read-working-directory");
  const mayWrite = mayRead && trustAllows(trust, "write-working-directory");
  const granted = (request.grantedRead ?? []).map(realPathOr);
  const grantedWrite = (request.grantedWrite ?? []).map(realPathOr);
  const here = cwd === undefined ? [] : [cwd];
  const asked = mayRead ? [...here, ...granted, ...grantedWrite] : [];
  const shown = asked.filter((path) => {
    const isGranted = path !== cwd;
    const reason =
      whyNotShown(path, hidden(), places, within) ?? (isGranted ? whyNotGranted(path, hidden()) : undefined);
    if (reason) diagnostics.push(notShown(path, reason, isGranted));
    return !reason;
  });
  if (request.write && cwd === undefined) diagnostics.push(NOTHING_TO_WRITE);
  const changeable = (mayWrite ? [...(request.write ? here : []), ...grantedWrite] : []).filter((path) => {
    if (!shown.includes(path)) return false;
    const isGranted = !(request.write && path === cwd);
    const reason =
      whyNotWritable(path, hidden(), skillDir, within) ?? (isGranted ? whyProtected(path) : undefined);
    if (reason) diagnostics.push(notWritable(path, reason));
    return !reason;
  });

  const skills = [skillDir, ...(request.otherSkills ?? []).map(realPathOr)];
  const roots = [...new Set([...shown, ...skills])].filter((path) => path !== undefined);
  const below = roots.length === 0 ? [] : hiddenBelow(roots, hidden(), places);
  const world: World = {
    cwd: cwd !== undefined && shown.includes(cwd) ? cwd : workDir,
    workDir,
    skillDir,
    dataDir,
    placed: request.placed,
    readable: [...new Set([...own, globalDataDir, ...roots])].filter((path) => path !== undefined),
    writable: [...new Set([...own, ...changeable])],
    masked: [...new Set([...below, ...(within?.masked ?? [])])],
    protectedPaths: changeable.flatMap(protectedPathsIn),
  };
  return { world: lookLater(world, roots, diagnostics), diagnostics };
}

/**
 * Folders are searched when the first tool or command needs to know what is hidden in them: a run that touches no file
 * does not pay for it, and others see the current state.
 */
function lookLater(world: World, roots: readonly string[], diagnostics: Diagnostic[]): World {
  if (roots.length === 0) return world;
  const found = once(() => lookThrough(world, roots, diagnostics));
  return {
    ...world,
    get masked() {
      return found().masked;
    },
    get protectedPaths() {
      return found().protectedPaths;
    },
  };
}

/**
 * Refreshes the world. A run that may change folders can move secrets out from under their masks, so these folders are
 * searched again before each of its commands; any other world stays as built.
 */
export function refreshWorld(world: World): World {
  const roots = world.writable.filter((path) => path !== world.workDir && path !== world.dataDir);
  return roots.length === 0 ? world : lookThrough(withoutMoved(world), roots, []);
}

/** A folder inside a writable one may have been replaced by a link, which must not be followed. */
function withoutMoved(world: World): World {
  const isInPlace = (path: string): boolean => realPathOr(path) === path;
  if (world.readable.every(isInPlace)) return world;
  return {
    ...world,
    readable: world.readable.filter(isInPlace),
    writable: world.writable.filter(isInPlace),
  };
}

/** Adds what is in `roots` and must be hidden or stay read-only. */
function lookThrough(world: World, roots: readonly string[], diagnostics: Diagnostic[]): World {
  const masked = new Set(world.masked);
  const guarded = new Set(world.protectedPaths);
  const isDone = (folder: string): boolean => folder === world.workDir || masked.has(folder);
  for (const root of roots) {
    const scan = findGuarded(root, isDone);
    for (const path of scan.hidden)
      if (world.readable.some((folder) => isInside(path, folder))) masked.add(path);
    if (world.writable.includes(root)) for (const path of scan.guarded) guarded.add(path);
    if (!scan.complete) diagnostics.push(scanLimit(root));
  }
  const found = { ...world, masked: [...masked], protectedPaths: [...guarded] };
  return isDeepStrictEqual(found, world) ? world : found;
}

function realIfGiven(path: string | undefined): string | undefined {
  return path === undefined ? undefined : realPathOr(path);
}

function whyNotShown(
  path: string,
  hidden: PrivatePlaces,
  places: Places,
  within: World | undefined,
): string | undefined {
  if (!statSync(path, { throwIfNoEntry: false })) return "it does not exist";
  if (within && accessTo(within, path) === "none") return "the parent run does not see it";
  return whyPrivate(path, hidden, places);
}

/** A skill chooses which part of a granted folder it uses, but never what is hidden in every folder. */
function whyNotGranted(path: string, { homes }: PrivatePlaces): string | undefined {
  if (homes.some((home) => isInside(home, path)))
    return "it contains a home folder; grant folders inside it instead";
  const secret = path.split(sep).find(isSecretName);
  return secret && `\`${secret}\` is a name for secrets`;
}

function whyProtected(path: string): string | undefined {
  const name = path.split(sep).find((part) => part === ".git" || PROTECTED_NAMES.includes(part));
  return name && `other programs obey the contents of \`${name}\``;
}

function whyNotWritable(
  path: string,
  { homes }: PrivatePlaces,
  skillDir: string | undefined,
  within: World | undefined,
): string | undefined {
  if (!statSync(path).isDirectory()) return "only folders can be made writable";
  if (homes.some((home) => isInside(home, path))) return "it contains a home folder";
  if (skillDir !== undefined && isInside(path, skillDir)) return "a skill's own folder is always read-only";
  if (within && accessTo(within, path) !== "write") return "it is read-only for the parent run";
  const link = findLink(protectedPathsIn(path));
  return link && `\`${link}\` is a link, and a link can be replaced`;
}

/** The private paths inside what is shown; what is not shown needs no mask. */
function hiddenBelow(
  roots: readonly string[],
  { homes, secrets }: PrivatePlaces,
  places: Places,
): readonly string[] {
  const isBelow = (path: string): boolean => roots.some((root) => path !== root && isInside(path, root));
  return [...homes, realPathOr(places.base), ...secrets].filter(isBelow);
}

function warn(code: Diagnostic["code"], path: string, message: string, hint: string): Diagnostic {
  return { code, severity: "warning", message, path, hint };
}

function notShown(path: string, reason: string, isGranted: boolean): Diagnostic {
  const hint = isGranted
    ? "Fix the path in the config or in the skill, or create the folder."
    : "Start the run in the folder it should work on.";
  return warn("sandbox.path-not-shown", path, `\`${path}\` is hidden from the run: ${reason}.`, hint);
}

function notWritable(path: string, reason: string): Diagnostic {
  const hint = "Let the run write to its work folder, and copy the files from there.";
  return warn("sandbox.path-not-writable", path, `\`${path}\` stays read-only for the run: ${reason}.`, hint);
}

const NOTHING_TO_WRITE: Diagnostic = warn(
  "sandbox.path-not-writable",
  "",
  "`write` was requested, but the run has no working directory: it can write only to its work folder.",
  "Pass `cwd` to `createMetier` or `metier.for`.",
);

function scanLimit(path: string): Diagnostic {
  const message = `\`${path}\` has more than ${MAX_SCANNED} entries or ${MAX_FOUND} hidden ones: commands can see \`.env\` files beyond that.`;
  return warn("sandbox.scan-limit", path, message, "Start the run in a smaller folder.");
}
