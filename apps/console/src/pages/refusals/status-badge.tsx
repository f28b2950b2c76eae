import { Badge } from '../../ui/badge.tsx'

/** The HTTP status of a refusal: what the gateway could not do stands out from what the client may not do. */
export function StatusBadge({ status }: { readonly status: number }) {
  return <Badge tone={status >= 500 ? 'danger' : status === 429 ? 'warn' : 'neutral'}>{status}</Badge>
}
