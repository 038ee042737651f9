/**
 * Decides what a run sees of the machine. Trusted: the working directory and what the user granted; untrusted: work
 * folder and skill folder only. Homes, Metier's own folders, config files and `.env*` are hidden whatever was asked for.
 */
import { statSync } from "node:fs";
import { sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { isInside, type Places } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { Trust } from "../skill/skill.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import { findPrivatePlaces, type PrivatePlaces, whyPrivate } from "./private-places.ts";
import { findLink, PROTECTED_NAMES, protectedPathsIn } from "./protected-paths.ts";
import { MAX_FOUND, MAX_SCANNED, scanFolder } from "./scan-folder.ts";
import { isSecretName } from "./secret-names.ts";
import type { World } from "./world.ts";
import { accessTo } from "./world-access.ts";

export interface WorldRequest {
  /** Of the run: already lowered to its caller's. */
  readonly trust: Trust;
  readonly cwd: string;
  /** Must exist. */
  readonly workDir: string;
  readonly skillDir?: string;
  /** What the skill keeps over its runs, and what it may only read of that; must exist. */
  readonly dataDir?: string;
  readonly globalDataDir?: string;
  /** Folders that appear in the skill's. */
  readonly placed?: World["placed"];
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
  readonly within?: World;
}

export interface BuiltWorld {
  readonly world: World;
  /** What was asked for and is not shown, or not writable, with the reason. */
  readonly diagnostics: readonly Diagnostic[];
}

export function buildWorld(request: WorldRequest): BuiltWorld {
  const { trust, places, within } = request;
  const diagnostics: Diagnostic[] = [];
  const cwd = realPathOr(request.cwd);
  const workDir = realPathOr(request.workDir);
  const skillDir = realIfGiven(request.skillDir);
  const dataDir = realIfGiven(request.dataDir);
  const globalDataDir = realIfGiven(request.globalDataDir);
  const own = [workDir, dataDir].filter((path) => path !== undefined);
  const hidden = findPrivatePlaces(places, request.privateFiles);

  const mayRead = trustAllows(trust, "read-working-directory");
  const mayWrite = mayRead && trustAllows(trust, "write-working-directory");
  const granted = (request.grantedRead ?? []).map(realPathOr);
  const grantedWrite = (request.grantedWrite ?? []).map(realPathOr);
  const asked = mayRead ? [cwd, ...granted, ...grantedWrite] : [];
  const shown = asked.filter((path) => {
    const isGranted = path !== cwd;
    const reason =
      whyNotShown(path, hidden, places, within) ?? (isGranted ? whyNotGranted(path, hidden) : undefined);
    if (reason) diagnostics.push(notShown(path, reason, isGranted));
    return !reason;
  });
  const changeable = (mayWrite ? [...(request.write ? [cwd] : []), ...grantedWrite] : []).filter((path) => {
    if (!shown.includes(path)) return false;
    const isGranted = !(request.write && path === cwd);
    const reason =
      whyNotWritable(path, hidden, skillDir, within) ?? (isGranted ? whyProtected(path) : undefined);
    if (reason) diagnostics.push(notWritable(path, reason));
    return !reason;
  });

  const skills = [
    ...(skillDir === undefined ? [] : [skillDir]),
    ...(request.otherSkills ?? []).map(realPathOr),
  ];
  const roots = [...new Set([...shown, ...skills])];
  const world: World = {
    cwd: shown.includes(cwd) ? cwd : workDir,
    workDir,
    ...(skillDir !== undefined && { skillDir }),
    ...(dataDir !== undefined && { dataDir }),
    ...(request.placed && { placed: request.placed }),
    readable: [...new Set([...own, globalDataDir, ...roots])].filter((path) => path !== undefined),
    writable: [...new Set([...own, ...changeable])],
    masked: [...new Set([...hiddenBelow(roots, hidden, places), ...(within?.masked ?? [])])],
    protectedPaths: changeable.flatMap(protectedPathsIn),
  };
  return { world: lookThrough(world, roots, diagnostics), diagnostics };
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
    const scan = scanFolder(root, isDone);
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

function notShown(path: string, reason: string, isGranted: boolean): Diagnostic {
  return {
    code: "sandbox.path-not-shown",
    severity: "warning",
    message: `\`${path}\` is not shown to the run: ${reason}.`,
    path,
    hint: isGranted
      ? "Correct the path in the config or in the skill, or make the folder."
      : "Start the run in the folder that it is to work on.",
  };
}

function notWritable(path: string, reason: string): Diagnostic {
  return {
    code: "sandbox.path-not-writable",
    severity: "warning",
    message: `\`${path}\` stays read-only for the run: ${reason}.`,
    path,
    hint: "Let the run write to its work folder, and take the files from there.",
  };
}

function scanLimit(path: string): Diagnostic {
  return {
    code: "sandbox.scan-limit",
    severity: "warning",
    message: `\`${path}\` has more than ${MAX_SCANNED} entries or ${MAX_FOUND} hidden ones: commands see \`.env\` files beyond them.`,
    path,
    hint: "Start the run in a smaller folder.",
  };
}
