/** The form for a new key: a role or single scopes, and when it expires. */
import type { ApiKey } from "@metier/service/api";
import { useState } from "preact/hooks";
import { Button } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { CheckField, ChoiceField, TextField } from "../design/field.tsx";
import { FailureNotice } from "../design/notice.tsx";
import { ask, type Failure } from "../state/answers.ts";

interface NewKeyProps {
  readonly tenant?: string | undefined;
  onMade(key: ApiKey): void;
  onClose(): void;
}

const ROLES: Readonly<Record<string, string>> = {
  viewer: "Sees runs and skills.",
  member: "Sees runs and their files, and starts runs.",
  operator:
    "Also decides approvals, changes skills, agents, schedules and secrets, and sees workers and the queue.",
  admin: "Also creates keys, deletes users, sets quotas and reads the audit log.",
  scopes: "Exactly what you choose here.",
};

const SCOPES = ["read", "files", "run", "approve", "write", "operate", "admin"];

interface KeyWish {
  readonly name: string;
  readonly role: string;
  readonly scopes: readonly string[];
  readonly userId: string;
  readonly expiresAt: string;
}

const EMPTY: KeyWish = { name: "", role: "member", scopes: ["read"], userId: "", expiresAt: "" };

export function NewKey({ tenant, onMade, onClose }: NewKeyProps) {
  const [wish, setWish] = useState(EMPTY);
  const [failure, setFailure] = useState<Failure | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const set = (field: keyof KeyWish) => (value: string) => setWish({ ...wish, [field]: value });
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    const outcome = await ask<ApiKey>("/v1/keys", "POST", bodyOf(wish, tenant));
    setBusy(false);
    if (!outcome.ok) return setFailure(outcome.refusal);
    onMade(outcome.value);
    onClose();
  };
  const isWhole = wish.name.trim() !== "" && (wish.role !== "scopes" || wish.scopes.length > 0);
  return (
    <Dialog title="New key" onClose={onClose}>
      <form class="stack" onSubmit={(event) => void submit(event)}>
        <TextField label="Name" value={wish.name} hint="Who or what uses it." onInput={set("name")} />
        <ChoiceField
          label="Role"
          value={wish.role}
          options={Object.keys(ROLES).map(
            (role) => [role, role === "scopes" ? "single scopes" : role] as const,
          )}
          hint={ROLES[wish.role]}
          onChange={set("role")}
        />
        {wish.role === "scopes" && (
          <Scopes chosen={wish.scopes} onChange={(scopes) => setWish({ ...wish, scopes })} />
        )}
        <TextField
          label="For one user"
          value={wish.userId}
          hint="Your own id for a person. Runs of this key are theirs, and count toward their quotas. Leave empty for nobody in particular."
          onInput={set("userId")}
        />
        <TextField
          label="Valid until"
          type="date"
          value={wish.expiresAt}
          hint="It expires at the start of this day (UTC). Leave empty to keep it until it is revoked."
          onInput={set("expiresAt")}
        />
        {failure && <FailureNotice failure={failure} />}
        <div class="row">
          <Button type="submit" kind="accent" isDisabled={isBusy || !isWhole}>
            Create key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function bodyOf({ name, role, scopes, userId, expiresAt }: KeyWish, tenant: string | undefined): object {
  return {
    name: name.trim(),
    ...(tenant !== undefined && { tenant }),
    ...(role === "scopes" ? { scopes } : { role }),
    ...(userId !== "" && { userId }),
    ...(expiresAt !== "" && { expiresAt }),
  };
}

interface ScopesProps {
  readonly chosen: readonly string[];
  onChange(scopes: readonly string[]): void;
}

function Scopes({ chosen, onChange }: ScopesProps) {
  return (
    <fieldset class="row plain-fieldset">
      <legend class="small">Scopes</legend>
      {SCOPES.map((scope) => (
        <CheckField
          key={scope}
          label={scope}
          isChecked={chosen.includes(scope)}
          onChange={(isChecked) =>
            onChange(SCOPES.filter((one) => (one === scope ? isChecked : chosen.includes(one))))
          }
        />
      ))}
    </fieldset>
  );
}
