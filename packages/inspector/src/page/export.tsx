/**
 * The start of an exported page: everything is in one script, and the page holds the address until the reader moves
 * on.
 */
import { render } from "preact";
import "./design/tokens.css";
import "./design/base.css";
import "./design/components.css";
import "./design/shell.css";
import "./views/views.css";
import { App } from "./app.tsx";

const place = document.getElementById("app");
const start = place?.dataset.address;
if (location.hash === "" && start) history.replaceState(null, "", `#${start}`);
dispatchEvent(new HashChangeEvent("hashchange"));
if (place) render(<App />, place);
