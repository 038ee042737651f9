import { Page } from "../design/page.tsx";

export function Approvals() {
  return <Page title="Approvals">{null}</Page>;
}
