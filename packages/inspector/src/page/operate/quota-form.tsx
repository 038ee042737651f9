/** The form for quotas: of a tenant, of each user, or of one user. */
import type { Result } from "@metier/base/result";
import type { ApiQuotaLimits } from "@metier/service/api";
import { useState } from "preact/hooks";
import { Button } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { TextField } from "../design/field.tsx";
import { FailureNotice } from "../design/notice.tsx";
import { type Failure, reloadAll } from "../state/answers.ts";
import { FIELDS_OF, QUOTA_FIELDS, readLimits, writeLimits } from "./quota-fields.ts";

interface QuotaFormProps {
  readonly title: string;
  readonly limits: ApiQuotaLimits;
  readonly of: keyof typeof FIELDS_OF;
  /** Whether it is for a user who is named here. */
  readonly wantsUser?: boolean;
  save(limits: ApiQuotaLimits, user: string): Promise<Result<unknown, Failure>>;
  onClose(): void;
}

export function QuotaForm({ title, limits, of, wantsUser = false, save, onClose }: QuotaFormProps) {
  const [texts, setTexts] = useState(() => writeLimits(limits));
  const [user, setUser] = useState("");
  const [failure, setFailure] = useState<Failure | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const read = readLimits(texts);
  const isWhole = Object.keys(read.errors).length === 0 && (!wantsUser || user.trim() !== "");
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    const outcome = await save(read.limits, user.trim());
    setBusy(false);
    if (!outcome.ok) return setFailure(outcome.refusal);
    reloadAll("/v1/quotas");
    reloadAll("/v1/tenants/");
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void submit(event)}>
        <p class="soft">An empty field means no limit.</p>
        {wantsUser && (
          <TextField label="User" value={user} hint="The user id of keys and runs." onInput={setUser} />
        )}
        <div class="filters">
          {QUOTA_FIELDS.filter(({ name }) => FIELDS_OF[of].includes(name)).map(({ name, label }) => (
            <TextField
              key={name}
              label={label}
              value={texts[name]}
              error={read.errors[name]}
              onInput={(text) => setTexts({ ...texts, [name]: text })}
            />
          ))}
        </div>
        {failure && <FailureNotice failure={failure} />}
        <div class="row">
          <Button type="submit" kind="accent" isDisabled={isBusy || !isWhole}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
