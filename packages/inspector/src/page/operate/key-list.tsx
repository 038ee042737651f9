/** The keys of a tenant: who may do what, and until when. A key's text is shown once, when it is created. */
import type { ApiKey } from "@metier/service/api";
import { useState } from "preact/hooks";
import { StatusBadge } from "../design/badge.tsx";
import { Button } from "../design/button.tsx";
import { Empty, Notice } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { PlainTable } from "../design/plain-table.tsx";
import { CopyButton, GivenName, showUnseen, Time } from "../design/text.tsx";
import { AskFirst } from "../parts/ask-first.tsx";
import { MorePages } from "../parts/more-pages.tsx";
import { ask, may, me } from "../state/answers.ts";
import { usePages } from "../state/pages.ts";
import { NewKey } from "./new-key.tsx";

/** `tenant`: absent for the user's own. */
export function KeyList({ tenant }: { readonly tenant?: string }) {
  const ofTenant = tenant === undefined ? "" : `&tenant=${encodeURIComponent(tenant)}`;
  const pages = usePages<ApiKey>(`/v1/keys?limit=100${ofTenant}`);
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<ApiKey | undefined>(undefined);
  const [revoked, setRevoked] = useState<ApiKey | undefined>(undefined);
  const take = (key: ApiKey): void => {
    setMade(key);
    pages.again();
  };
  const isRefused = pages.failure !== undefined && pages.items.length === 0;
  return (
    <Section
      title="Keys"
      actions={may("admin") && !isRefused && <Button onPress={() => setMaking(true)}>New key</Button>}
    >
      {isMaking && <NewKey tenant={tenant} onMade={take} onClose={() => setMaking(false)} />}
      {made && <MadeKey key={made.id} made={made} onSeen={() => setMade(undefined)} />}
      {revoked && <RevokeKey revoked={revoked} onDone={pages.again} onClose={() => setRevoked(undefined)} />}
      {pages.items.length > 0 && <KeyTable keys={pages.items} onRevoke={setRevoked} />}
      {!pages.isLoading && !pages.failure && pages.items.length === 0 && (
        <Empty title="No key yet.">
          <p>Create one with the role admin, and give it to the person who runs this tenant.</p>
        </Empty>
      )}
      <MorePages pages={pages} noun="key" />
    </Section>
  );
}

interface KeyTableProps {
  readonly keys: readonly ApiKey[];
  onRevoke(key: ApiKey): void;
}

function KeyTable({ keys, onRevoke }: KeyTableProps) {
  return (
    <PlainTable
      label="Keys"
      rows={keys}
      columns={[
        { title: "Name", isName: true, render: ({ name }) => <GivenName text={name} /> },
        { title: "May", render: (key) => <Rights held={key} /> },
        {
          title: "For user",
          render: ({ userId }) => (userId === undefined ? "–" : <GivenName text={userId} />),
        },
        { title: "State", render: ({ status }) => <StatusBadge status={status} /> },
        {
          title: "Action",
          render: (key) =>
            key.status === "active" && (
              <Button kind="danger" label={`Revoke ${showUnseen(key.name)}`} onPress={() => onRevoke(key)}>
                Revoke
              </Button>
            ),
        },
        { title: "Created", render: ({ createdAt }) => <Time at={createdAt} /> },
        { title: "Ends", render: ({ revokedAt, expiresAt }) => <Time at={revokedAt ?? expiresAt} /> },
        { title: "Id", render: ({ id }) => <code class="id">{showUnseen(id)}</code> },
      ]}
    />
  );
}

function Rights({ held: { role, scopes } }: { readonly held: ApiKey }) {
  return (
    <>
      {role} {role !== "admin" && <span class="small soft">{scopes.join(", ")}</span>}
    </>
  );
}

function MadeKey({ made: { name, key = "" }, onSeen }: { readonly made: ApiKey; onSeen(): void }) {
  return (
    <Notice tone="good" title="This is the key. It won't be shown again.">
      <p>
        For <strong>{showUnseen(name)}</strong>. Only its digest is stored: if the key is lost, revoke it and
        create a new one.
      </p>
      <p>
        <code class="key-text">{key}</code>
      </p>
      <div class="row">
        <CopyButton text={key} label="Copy the key" />
        <Button onPress={onSeen}>I have it</Button>
      </div>
    </Notice>
  );
}

interface RevokeKeyProps {
  readonly revoked: ApiKey;
  onDone(): void;
  onClose(): void;
}

function RevokeKey({ revoked: { id, name }, onDone, onClose }: RevokeKeyProps) {
  return (
    <AskFirst
      title="Revoke this key?"
      action="Revoke the key"
      leave="Keep it"
      act={() => ask(`/v1/keys/${encodeURIComponent(id)}`, "DELETE")}
      onDone={onDone}
      onClose={onClose}
    >
      <p>
        <strong>{showUnseen(name)}</strong> stops working at once, and everyone who signed in with it is
        signed out. A revoked key stays in the list, and can't be used again.
      </p>
      {id === me.value?.keyId && (
        <p>
          <strong>You are signed in with this key.</strong>
        </p>
      )}
    </AskFirst>
  );
}
