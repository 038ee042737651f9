/** How much of its quotas a tenant uses, as bars with numbers. */
import type { ApiQuotas } from "@metier/service/api";
import { Bar } from "../design/bar.tsx";
import { QUOTA_FIELDS, toneOf } from "./quota-fields.ts";

export function QuotaBars({ quotas: { tenant, used } }: { readonly quotas: ApiQuotas }) {
  return (
    <ul class="quota-bars">
      {QUOTA_FIELDS.map(({ name, title, about, show }) => {
        const limit = tenant[name];
        const value = used[name];
        return (
          <li key={name}>
            <div class="quota-head">
              <strong>{title}</strong>
              <span class="number">
                {show(value)}
                {limit === undefined ? <span class="soft"> used, no limit</span> : ` of ${show(limit)}`}
              </span>
            </div>
            {limit !== undefined && (
              <Bar share={limit === 0 ? 1 : value / limit} tone={toneOf(value, limit)} />
            )}
            <p class="small soft">{about}</p>
          </li>
        );
      })}
    </ul>
  );
}
