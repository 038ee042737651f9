/** Recording trust for what a `Metier` sees: its project, a folder, one of its skills. */
import { dirname } from "node:path";
import { isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import { type FolderOutcome, grantFolder } from "../trust/grant-store.ts";
import type { ProjectConfigFile, TrustQuestion } from "../trust/trust-question.ts";
import type { Metier } from "./create-metier.ts";

/** The project's config file as it is now: what a folder's grant also binds to. */
export function projectConfigOf({
  config,
  project,
}: Pick<Metier, "config" | "project">): ProjectConfigFile | undefined {
  const file = config.projectFile;
  if (file === undefined || !isInside(realPathOr(dirname(file.path)), realPathOr(project.root)))
    return undefined;
  return { path: file.path, digest: `sha256:${file.sha256}` };
}

/** A yes or no for a folder; a no to a changed config leaves the folder's trust as it is. */
export function recordFolder(
  { places }: Pick<Metier, "places">,
  { folder, config, about }: Pick<TrustQuestion, "folder" | "config" | "about">,
  decision: "trusted" | "denied",
): FolderOutcome {
  if (about === "config-changed" && decision === "denied") {
    return grantFolder(places, {
      path: folder,
      decision: "trusted",
      ...(config && { refusedConfigDigest: config.digest }),
    });
  }
  return grantFolder(places, {
    path: folder,
    decision,
    ...(config && decision === "trusted" && { configDigest: config.digest }),
  });
}
