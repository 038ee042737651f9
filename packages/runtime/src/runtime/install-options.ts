/** What a program can pass to `install`, `update` and similar calls: rejects unknown options and guards callbacks. */
import type { TellHost } from "@metier/base/diagnostic";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import type {
  InstallDecisions,
  InstalledWish,
  InstallRequest,
  OutdatedRequest,
  RemoveOptions,
  RollbackOptions,
  UpdateDecisions,
  UpdateRequest,
  VerifyRequest,
} from "@metier/install";

const INSTALL: OptionKeys<InstallRequest> = {
  source: true,
  ref: true,
  skills: true,
  name: true,
  force: true,
  frozen: true,
  project: true,
  copy: true,
  link: true,
  agents: true,
  dryRun: true,
  yes: true,
  baseline: true,
  signal: true,
  onProgress: true,
  onReview: true,
};
const INSTALL_DECISIONS: OptionKeys<InstallDecisions> = { choose: true, review: true, conflict: true };
const REMOVE: OptionKeys<RemoveOptions> = { project: true, force: true, data: true };
const WISH: OptionKeys<InstalledWish> = { skills: true, project: true };
const VERIFY: OptionKeys<VerifyRequest> = { ...WISH, onProgress: true };
const OUTDATED: OptionKeys<OutdatedRequest> = { ...WISH, signal: true, onProgress: true };
const UPDATE: OptionKeys<UpdateRequest> = {
  ...OUTDATED,
  dryRun: true,
  baseline: true,
  yes: true,
  force: true,
  onReview: true,
  onReviews: true,
};
const UPDATE_DECISIONS: OptionKeys<UpdateDecisions> = { decide: true, decideAll: true };
const ROLLBACK: OptionKeys<RollbackOptions> = { project: true, force: true, signal: true, onProgress: true };

const CALLS = {
  install: INSTALL,
  remove: REMOVE,
  outdated: OUTDATED,
  update: UPDATE,
  rollback: ROLLBACK,
  verify: VERIFY,
} as const;

const DECISIONS = { install: INSTALL_DECISIONS, update: UPDATE_DECISIONS } as const;

type Heard = Pick<InstallRequest, "onProgress"> & {
  onReview?(review: never): unknown;
  onReviews?(reviews: never): unknown;
};

/** The normalized request; throws for an option that the call doesn't have. */
export function takeRequest<Request extends object>(
  call: keyof typeof CALLS,
  request: Request,
  tell: TellHost,
): Request {
  checkKeys(call, request, CALLS[call]);
  const { onProgress, onReview, onReviews } = request as Heard;
  return {
    ...request,
    ...(onProgress && { onProgress: (step: never) => tell("onProgress", onProgress.bind(request), step) }),
    ...(onReview && { onReview: (review: never) => tell("onReview", onReview.bind(request), review) }),
    ...(onReviews && { onReviews: (reviews: never) => tell("onReviews", onReviews.bind(request), reviews) }),
  };
}

export function checkDecisions(call: keyof typeof DECISIONS, decisions: unknown): void {
  checkKeys(`${call} decisions`, decisions, DECISIONS[call]);
}
