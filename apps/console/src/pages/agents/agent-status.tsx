import { useTranslations } from 'use-intl'
import type { AgentStatus as Status } from '../../generated/graphql.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'

const TONES: Readonly<Record<Status, Tone>> = { AVAILABLE: 'ok', DEGRADED: 'warn', UNAVAILABLE: 'danger' }

/** Whether the platform of an agent answers; its tooltip says what the word means. */
export function AgentStatus({ status }: { readonly status: Status }) {
  const t = useTranslations('agents.status')
  return (
    <span title={t(`${status}_HINT`)}>
      <Badge tone={TONES[status]}>{t(status)}</Badge>
    </span>
  )
}
