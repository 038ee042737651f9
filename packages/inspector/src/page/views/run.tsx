import { Page } from "../design/page.tsx";

export function RunDetails() {
  return <Page title="RunDetails">{null}</Page>;
}
