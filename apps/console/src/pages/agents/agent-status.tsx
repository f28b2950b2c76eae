import { useTranslations } from 'use-intl'
import type { AgentStatus as Status } from '../../generated/graphql.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'

export const STATUS_TONES: Readonly<Record<Status, Tone>> = {
  AVAILABLE: 'ok',
  DEGRADED: 'warn',
  UNAVAILABLE: 'danger',
}

/** Whether an agent can serve calls; its tooltip says what the word means. */
export function AgentStatus({ status }: { readonly status: Status }) {
  const t = useTranslations('agents.status')
  return (
    <span title={t(`${status}_HINT`)}>
      <Badge tone={STATUS_TONES[status]}>{t(status)}</Badge>
    </span>
  )
}
