/** Below a list that loads in parts: whether there is more, and why loading failed. */
import { Button } from "../design/button.tsx";
import { FailureNotice } from "../design/notice.tsx";
import { countOf } from "../state/format.ts";
import type { Pages } from "../state/pages.ts";

export function MorePages({ pages, noun }: { readonly pages: Pages<unknown>; readonly noun: string }) {
  const { items, next, isLoading, failure } = pages;
  if (isLoading && items.length === 0)
    return (
      <p class="soft loading" role="status">
        Loading…
      </p>
    );
  return (
    <>
      {failure && <FailureNotice failure={failure} />}
      {next !== undefined && (
        <div class="row">
          <Button isDisabled={isLoading} onPress={pages.more}>
            Show more
          </Button>
          <span class="soft small">{countOf(items.length, noun)} so far</span>
        </div>
      )}
    </>
  );
}
