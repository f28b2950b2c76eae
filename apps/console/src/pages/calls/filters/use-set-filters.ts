import { useTranslations } from 'use-intl'
import type { SetFilter } from '../../../filters/filter-panel.tsx'
import { setFilters } from '../../../filters/set-filters.ts'
import { useNames } from '../../../filters/use-names.ts'
import { useFormats } from '../../../format/use-formats.ts'
import type { CallsSearch } from '../calls-search.ts'

/** The filters that are set, in words. */
export function useSetFilters(
  search: CallsSearch,
  onChange: (changed: CallsSearch) => void,
): readonly SetFilter[] {
  const t = useTranslations('calls')
  const { count, duration } = useFormats()
  const names = useNames()
  const { agent, key, user, outcome, kind, face, reason, firstMs, ms, tokens, requestId, conversation } =
    search
  const named = (value: string | undefined) => (value === '' ? t('without') : value)
  const usual = setFilters<CallsSearch>(
    {
      agent: [t('agent'), names.agent(agent)],
      key: [t('key'), names.key(key)],
      user: [t('user'), names.user(user)],
      outcome: [t('outcome'), outcome && t(`outcomes.${outcome}`)],
      requestId: [t('requestId'), requestId],
    },
    onChange,
    { isUsual: true },
  )
  const others = setFilters<CallsSearch>(
    {
      conversation: [t('call.conversation'), conversation],
      reason: [t('call.reason'), reason],
      kind: [t('call.kind'), kind && t(`call.kinds.${kind}`)],
      face: [t('call.face'), face && t(`call.faces.${face}`)],
      app: [t('call.app'), named(search.app)],
      deployment: [t('call.deployment'), named(search.deployment)],
      model: [t('call.model'), named(search.model)],
      endUser: [t('call.endUser'), named(search.endUser)],
      paused: [t('pause'), search.paused === undefined ? undefined : t(`pauses.${search.paused}`)],
      firstMs: [t('firstChunk'), firstMs === undefined ? undefined : `≥ ${duration(firstMs)}`],
      ms: [t('duration'), ms === undefined ? undefined : `≥ ${duration(ms)}`],
      tokens: [t('tokens'), tokens === undefined ? undefined : `≥ ${count(tokens)}`],
    },
    onChange,
    { isUsual: false },
  )
  return [...usual, ...others]
}
