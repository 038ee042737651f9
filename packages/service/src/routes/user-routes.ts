/** Users are known by what they have: keys, runs, sessions. All an admin can do with one is delete them. */
import { objectOf, TEXT_FIELD } from "../http/query-shapes.ts";
import { refuse } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import type { ServiceContext } from "../service-context.ts";
import { beginDeletion } from "../tenants/deletion.ts";

const deletionSchema = objectOf({ status: { enum: ["deleting", "deleted"] }, id: TEXT_FIELD });

const deleteUser = defineRoute({
  method: "DELETE",
  path: "/v1/users/{user}",
  scope: "admin",
  group: "users",
  summary:
    "Delete a user of your tenant: their keys, sign-ins, sessions, schedules and runs. The audit log stays, without their name.",
  answers: {
    200: { about: "The user's data is gone.", schema: deletionSchema },
    202: {
      about: "The user's runs are being ended; repeat the request to check.",
      schema: deletionSchema,
    },
  },
  async handle({ identity, param }, context) {
    const userId = param("user");
    if (!(await isKnown(context, identity.tenant, userId))) {
      const message = "This user has nothing here and never had.";
      return refuse(404, "not_found", message, "Send the user id exactly as it appears in keys and runs.");
    }
    const isGone = await beginDeletion(context, { tenant: identity.tenant, userId }, identity);
    return replyWith({ id: userId, status: isGone ? "deleted" : "deleting" }, isGone ? 200 : 202);
  },
});

/** Also someone from before people were recorded: they may have a run or a key. */
async function isKnown(
  { people, keys, journal }: ServiceContext,
  tenant: string,
  userId: string,
): Promise<boolean> {
  if ((await people.find(tenant, userId)) !== undefined) return true;
  if ((await journal.list({ tenant, userId, limit: 1 })).length > 0) return true;
  return (await keys.ofUser(tenant, userId)).length > 0;
}

export const USER_ROUTES: readonly ServiceRoute[] = [deleteUser];
