import { useTranslations } from 'use-intl'
import type { CallOutcome } from '../../generated/graphql.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'

const TONES: Record<CallOutcome | 'RUNNING', Tone> = {
  RUNNING: 'accent',
  DONE: 'ok',
  CLIENT_GONE: 'neutral',
  REJECTED: 'warn',
  UPSTREAM_ERROR: 'danger',
  TIMEOUT: 'danger',
  DRAINED: 'danger',
  INTERRUPTED: 'danger',
  OTHER: 'neutral',
}

/** How a call ended, or that it is running. */
export function OutcomeBadge({ outcome }: { readonly outcome: CallOutcome | null }) {
  const t = useTranslations('calls.outcomes')
  const state = outcome ?? 'RUNNING'
  return <Badge tone={TONES[state]}>{t(state)}</Badge>
}
