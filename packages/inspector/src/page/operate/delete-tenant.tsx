/** Deleting a tenant: all of it, after its name was typed. */
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
      action="Delete all of it"
      leave="Keep it"
      typed={{ label: "Type its name to go on", text: name }}
      act={() => ask(`/v1/tenants/${encodeURIComponent(id)}`, "DELETE")}
      onDone={() => goTo(["tenants"])}
      onClose={onClose}
    >
      <p>
        The tenant <strong>{showUnseen(name)}</strong> goes with everything it has: runs and their files,
        skills, agents, schedules, secrets, keys and users. Its keys stop working at once. Runs that go on are
        ended, which may take a while. Nobody can bring it back.
      </p>
    </AskFirst>
  );
}
