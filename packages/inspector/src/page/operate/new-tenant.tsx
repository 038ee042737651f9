/** The form for a new tenant. */
import type { ApiTenant } from "@metier/service/api";
import { useState } from "preact/hooks";
import { Button } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { TextField } from "../design/field.tsx";
import { FailureNotice } from "../design/notice.tsx";
import { goTo } from "../state/address.ts";
import { ask, type Failure } from "../state/answers.ts";

export function NewTenant({ onClose }: { onClose(): void }) {
  const [name, setName] = useState("");
  const [failure, setFailure] = useState<Failure | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    const outcome = await ask<ApiTenant>("/v1/tenants", "POST", { name });
    setBusy(false);
    if (!outcome.ok) return setFailure(outcome.refusal);
    onClose();
    goTo(["tenants", outcome.value.id]);
  };
  return (
    <Dialog title="New tenant" onClose={onClose}>
      <form class="stack" onSubmit={(event) => void submit(event)}>
        <TextField
          label="Name"
          value={name}
          hint="A team or a customer. Tenants can't see each other's data."
          onInput={setName}
        />
        {failure && <FailureNotice failure={failure} />}
        <div class="row">
          <Button type="submit" kind="accent" isDisabled={isBusy || name.trim() === ""}>
            Create tenant
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
