import { useTranslations } from 'use-intl'
import type { BreakerState } from '../generated/graphql.ts'
import { Badge, type Tone } from './badge.tsx'

const TONES: Readonly<Record<BreakerState, Tone>> = { CLOSED: 'ok', HALF_OPEN: 'warn', OPEN: 'danger' }

/** Whether calls are sent to a deployment; its tooltip says what the word means. */
export function Breaker({ state }: { readonly state: BreakerState }) {
  const t = useTranslations('agents.deployments.breaker')
  return (
    <span title={t(`${state}_HINT`)}>
      <Badge tone={TONES[state]}>{t(state)}</Badge>
    </span>
  )
}
