/** The quotas of each user of a tenant, and the users with different ones. */
import type { ApiQuotaLimits, ApiQuotas } from "@metier/service/api";
import { useState } from "preact/hooks";
import { Button } from "../design/button.tsx";
import { Section } from "../design/page.tsx";
import { PlainTable } from "../design/plain-table.tsx";
import { GivenName, showUnseen } from "../design/text.tsx";
import { ask } from "../state/answers.ts";
import { describeLimits } from "./quota-fields.ts";
import { QuotaForm } from "./quota-form.tsx";

/** `user`: absent for a new one. */
type Editing = { readonly kind: "each" } | { readonly kind: "user"; readonly user?: string };

interface UserQuotasProps {
  readonly quotas: ApiQuotas;
  readonly canEdit: boolean;
}

export function UserQuotaTable({ quotas, canEdit }: UserQuotasProps) {
  const [editing, setEditing] = useState<Editing | undefined>(undefined);
  const named = Object.entries(quotas.users);
  const rows = [
    { title: "Each user", limits: quotas.eachUser, editing: { kind: "each" } as const },
    ...named.map(([user, limits]) => ({
      title: user,
      limits,
      editing: { kind: "user", user } as const,
    })),
  ];
  return (
    <Section
      title="Users"
      actions={canEdit && <Button onPress={() => setEditing({ kind: "user" })}>Quotas for one user</Button>}
    >
      {editing && <EditQuotas quotas={quotas} editing={editing} onClose={() => setEditing(undefined)} />}
      <PlainTable
        label="Quotas of users"
        rows={rows}
        columns={[
          { title: "User", isName: true, render: ({ title }) => <GivenName text={title} /> },
          { title: "May", render: ({ limits }) => describeLimits(limits) },
          {
            title: "Action",
            render: (row) =>
              canEdit && (
                <Button label={`Edit: ${showUnseen(row.title)}`} onPress={() => setEditing(row.editing)}>
                  Edit
                </Button>
              ),
          },
        ]}
      />
    </Section>
  );
}

interface EditQuotasProps {
  readonly quotas: ApiQuotas;
  readonly editing: Editing;
  onClose(): void;
}

function EditQuotas({ quotas: { eachUser, users }, editing, onClose }: EditQuotasProps) {
  const save = (body: object) => ask("/v1/quotas", "PUT", body);
  if (editing.kind === "each")
    return (
      <QuotaForm
        title="Quotas of each user"
        of="each"
        limits={eachUser}
        save={(limits) => save({ eachUser: limits, users })}
        onClose={onClose}
      />
    );
  const { user } = editing;
  return (
    <QuotaForm
      title={user === undefined ? "Quotas for one user" : `Quotas of ${showUnseen(user)}`}
      of="user"
      limits={user === undefined ? {} : (users[user] ?? {})}
      wantsUser={user === undefined}
      save={(limits, typed) => save({ eachUser, users: withUser(users, user ?? typed, limits) })}
      onClose={onClose}
    />
  );
}

/** A user without separate limits gets those of each user. */
function withUser(users: ApiQuotas["users"], user: string, limits: ApiQuotaLimits): ApiQuotas["users"] {
  const { [user]: _, ...others } = users;
  return Object.keys(limits).length === 0 ? others : { ...others, [user]: limits };
}
