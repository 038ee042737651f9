import { Page } from "../design/page.tsx";

export function Agents() {
  return <Page title="Agents">{null}</Page>;
}
