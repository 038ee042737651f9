import { Page } from "../design/page.tsx";

export function Playground() {
  return <Page title="Playground">{null}</Page>;
}
