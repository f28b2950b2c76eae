import { useTranslations } from 'use-intl'
import type { BreakerState } from '../generated/graphql.ts'
import { Badge, type Tone } from './badge.tsx'

const TONES: Readonly<Record<BreakerState | 'TRIED', Tone>> = {
  CLOSED: 'ok',
  TRIED: 'warn',
  HALF_OPEN: 'warn',
  OPEN: 'danger',
}

interface BreakerProps {
  readonly state: BreakerState
  /** False if the platform does not answer probes, beside which a use without trouble would be a contradiction. */
  readonly isAnswering?: boolean
}

/** Whether calls are sent to a deployment; its tooltip says what the word means. */
export function Breaker({ state, isAnswering = true }: BreakerProps) {
  const t = useTranslations('agents.deployments.breaker')
  const use = state === 'CLOSED' && !isAnswering ? 'TRIED' : state
  return (
    <span title={t(`${use}_HINT`)}>
      <Badge tone={TONES[use]}>{t(use)}</Badge>
    </span>
  )
}
