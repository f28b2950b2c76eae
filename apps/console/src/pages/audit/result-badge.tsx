import { useTranslations } from 'use-intl'
import type { AuditResult } from '../../generated/graphql.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'

const TONES: Record<AuditResult, Tone> = { DONE: 'ok', REFUSED: 'warn', FAILED: 'danger', OTHER: 'neutral' }

/** Whether it was done. */
export function ResultBadge({ result }: { readonly result: AuditResult }) {
  const t = useTranslations('audit.results')
  return <Badge tone={TONES[result]}>{t(result)}</Badge>
}
