/** `?`: the keys that work now. */
import { Dialog } from "../design/dialog.tsx";
import { bindings } from "../state/keys.ts";

export function KeyHelp({ onClose }: { onClose(): void }) {
  const groups = Map.groupBy(bindings.value, ({ group }) => group);
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div class="columns">
        {[...groups].map(([group, list]) => (
          <section key={group} class="stack tight">
            <h3>{group}</h3>
            <dl class="facts">
              {list.map(({ keys, about }) => (
                <div key={keys}>
                  <dt>
                    {keys.split(" ").map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{about}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <section class="stack tight">
          <h3>In a list</h3>
          <dl class="facts">
            <div>
              <dt>
                <kbd>j</kbd> <kbd>k</kbd>
              </dt>
              <dd>Down, up (arrows, too)</dd>
            </div>
            <div>
              <dt>
                <kbd>Enter</kbd>
              </dt>
              <dd>Open</dd>
            </div>
          </dl>
        </section>
      </div>
    </Dialog>
  );
}
