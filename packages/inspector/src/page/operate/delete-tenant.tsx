/** Deletes a tenant with everything it has, after its name is typed. */
import type { ApiTenant } from "@metier/service/api";
import { showUnseen } from "../design/text.tsx";
import { AskFirst } from "../parts/ask-first.tsx";
import { goTo } from "../state/address.ts";
import { ask } from "../state/answers.ts";

interface DeleteTenantProps {
  readonly tenant: ApiTenant;
  onClose(): void;
}

export function DeleteTenant({ tenant: { id, name }, onClose }: DeleteTenantProps) {
  return (
    <AskFirst
      title="Delete this tenant?"
      action="Delete everything"
      leave="Keep it"
      typed={{ label: "Type its name to continue", text: name }}
      act={() => ask(`/v1/tenants/${encodeURIComponent(id)}`, "DELETE")}
      onDone={() => goTo(["tenants"])}
      onClose={onClose}
    >
      <p>
        The tenant <strong>{showUnseen(name)}</strong> will be deleted with everything it has: runs and their
        files, skills, agents, schedules, secrets, keys and users. Its keys stop working at once. Its active
        runs are stopped, which may take a while. This can't be undone.
      </p>
    </AskFirst>
  );
}
