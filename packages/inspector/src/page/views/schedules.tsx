import { Page } from "../design/page.tsx";

export function Schedules() {
  return <Page title="Schedules">{null}</Page>;
}
