import { Page } from "../design/page.tsx";

export function RoutingView() {
  return <Page title="RoutingView">{null}</Page>;
}
