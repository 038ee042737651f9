/** For a tenant's admins: the keys of their own tenant. */
import { ViewPage } from "../design/page.tsx";
import { KeyList } from "../operate/key-list.tsx";

export function Keys() {
  return (
    <ViewPage title="Keys" lead="Who may use this service for your tenant, and for what.">
      <KeyList />
    </ViewPage>
  );
}
