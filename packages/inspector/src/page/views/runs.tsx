import { Page } from "../design/page.tsx";

export function Runs() {
  return <Page title="Runs">{null}</Page>;
}
