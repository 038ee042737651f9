import { Page } from "../design/page.tsx";

export function Evals() {
  return <Page title="Evals">{null}</Page>;
}
