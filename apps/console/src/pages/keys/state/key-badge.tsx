import { useTranslations } from 'use-intl'
import { Badge } from '../../../ui/badge.tsx'
import { keyState } from './key-state.ts'

const TONES = {
  active: 'ok',
  paused: 'warn',
  expired: 'warn',
  revoked: 'neutral',
  suspended: 'danger',
} as const

export function KeyBadge({ apiKey }: { readonly apiKey: Parameters<typeof keyState>[0] }) {
  const t = useTranslations('keys.states')
  const state = keyState(apiKey)
  return <Badge tone={TONES[state]}>{t(state)}</Badge>
}
