/**
 * Decides what a run sees of the machine. Trusted: the working directory and what the user granted; untrusted: work
 * folder and skill folder only. Homes, Metier's own folders, config files and `.env*` are hidden whatever was asked for.
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
  /** Of the run: already lowered to its caller's. */
  readonly trust: Trust;
  /** Absent: the run works on nothing but its own folders and what was granted. */
  readonly cwd?: string | undefined;
  /** Must exist. */
  readonly workDir: string;
  readonly skillDir?: string | undefined;
  /** What the skill keeps over its runs, and what it may only read of that; must exist. */
  readonly dataDir?: string | undefined;
  readonly globalDataDir?: string | undefined;
  /** Folders that appear in the skill's. */
  readonly placed?: World["placed"] | undefined;
  /** Folders of other skills whose instructions are being followed; read-only. */
  readonly otherSkills?: readonly string[];
  /** The user's `--write`: the working directory may be changed. */
  readonly write: boolean;
  readonly places: Places;
  /** Config files and others that hold secrets. */
  readonly privateFiles: readonly string[];
  /** Further absolute paths that the skill declares and the user's config lets it have. */
  readonly grantedRead?: readonly string[];
  readonly grantedWrite?: readonly string[];
  /** The world of the run that starts this one: nothing but the own folders goes beyond it. */
  readonly within?: World | undefined;
}

export interface BuiltWorld {
  readonly world: World;
  /** What was asked for and is not shown, or not writable, with the reason; more may come when `world` is first used. */
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
 * The folders are looked through when the first tool or command asks what is hidden in them: a run that touches no file
 * does not pay for it, and one that does sees them as they are then.
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
 * The world as it is now. A run that may change folders can move secrets out from under their masks, so before each of
 * its commands these folders are looked through again; any other world stays as it was built.
 */
export function refreshWorld(world: World): World {
  const roots = world.writable.filter((path) => path !== world.workDir && path !== world.dataDir);
  return roots.length === 0 ? world : lookThrough(withoutMoved(world), roots, []);
}

/** A folder inside a writable one may have been moved away, and a link put in its place: that must not be followed. */
function withoutMoved(world: World): World {
  const isInPlace = (path: string): boolean => realPathOr(path) === path;
  if (world.readable.every(isInPlace)) return world;
  return {
    ...world,
    readable: world.readable.filter(isInPlace),
    writable: world.writable.filter(isInPlace),
  };
}

/** Adds what lies in `roots` and must be hidden or stay read-only. */
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
  if (within && accessTo(within, path) === "none") return "the run that starts this one does not see it";
  return whyPrivate(path, hidden, places);
}

/** A skill chooses where in a granted folder it reaches: also not into what is hidden in any folder. */
function whyNotGranted(path: string, { homes }: PrivatePlaces): string | undefined {
  if (homes.some((home) => isInside(home, path)))
    return "it holds a home folder; grant folders in it instead";
  const secret = path.split(sep).find(isSecretName);
  return secret && `\`${secret}\` is a name for secrets`;
}

function whyProtected(path: string): string | undefined {
  const name = path.split(sep).find((part) => part === ".git" || PROTECTED_NAMES.includes(part));
  return name && `other programs obey what is in \`${name}\``;
}

function whyNotWritable(
  path: string,
  { homes }: PrivatePlaces,
  skillDir: string | undefined,
  within: World | undefined,
): string | undefined {
  if (!statSync(path).isDirectory()) return "only folders can be made writable";
  if (homes.some((home) => isInside(home, path))) return "it holds a home folder";
  if (skillDir !== undefined && isInside(path, skillDir)) return "a skill's own folder is always read-only";
  if (within && accessTo(within, path) !== "write") return "it is read-only for the run that starts this one";
  const link = findLink(protectedPathsIn(path));
  return link && `\`${link}\` is a link, and a link cannot be kept from being replaced`;
}

/** The private places inside of what is shown; what is not shown needs no mask. */
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
    ? "Correct the path in the config or in the skill, or make the folder."
    : "Start the run in the folder that it is to work on.";
  return warn("sandbox.path-not-shown", path, `\`${path}\` is not shown to the run: ${reason}.`, hint);
}

function notWritable(path: string, reason: string): Diagnostic {
  const hint = "Let the run write to its work folder, and take the files from there.";
  return warn("sandbox.path-not-writable", path, `\`${path}\` stays read-only for the run: ${reason}.`, hint);
}

const NOTHING_TO_WRITE: Diagnostic = warn(
  "sandbox.path-not-writable",
  "",
  "`write` was asked for, but the run has no working directory: it writes to its work folder alone.",
  "Give `cwd` to `createMetier` or to `metier.for`.",
);

function scanLimit(path: string): Diagnostic {
  const message = `\`${path}\` has more than ${MAX_SCANNED} entries or ${MAX_FOUND} hidden ones: commands see \`.env\` files beyond them.`;
  return warn("sandbox.scan-limit", path, message, "Start the run in a smaller folder.");
}
