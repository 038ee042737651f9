/** What a service shows to a user who isn't signed in. The key becomes a cookie that no script can read. */
import type { ApiSignInWays } from "@metier/service/api";
import { useState } from "preact/hooks";
import { Button, LinkButton } from "../design/button.tsx";
import { TextField } from "../design/field.tsx";
import { ViewPage } from "../design/page.tsx";
import { type Failure, signIn, useAnswer } from "../state/answers.ts";

const WAYS = "/v1/sign-in";

export function SignInView() {
  const [key, setKey] = useState("");
  const [failure, setFailure] = useState<Failure | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const ways = useAnswer<ApiSignInWays>(WAYS).value;
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFailure(await signIn(key.trim()));
    setBusy(false);
  };
  return (
    <main class="sign-in">
      <ViewPage
        title="Sign in"
        lead={
          ways?.oidc
            ? "With your organization, or with an API key for this service."
            : "With an API key for this service."
        }
      >
        <form class="stack" onSubmit={(event) => void submit(event)}>
          <TextField
            label="API key"
            type="password"
            value={key}
            error={failure && [failure.message, failure.hint].filter(Boolean).join(" ")}
            hint="`metier serve` prints an admin key on its first start; admins create more with `POST /v1/keys`."
            onInput={setKey}
          />
          <div class="row">
            <Button type="submit" kind="accent" isDisabled={isBusy || key.trim() === ""}>
              Sign in
            </Button>
            {ways?.oidc && <LinkButton href={`${WAYS}/oidc`}>Sign in with your organization</LinkButton>}
          </div>
        </form>
      </ViewPage>
    </main>
  );
}
