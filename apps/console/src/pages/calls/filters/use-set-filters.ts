import { useTranslations } from 'use-intl'
import { useAgentChoices, useKeyChoices, useUserChoices } from '../../../choose/use-choices.ts'
import type { SetFilter } from '../../../filters/filter-panel.tsx'
import { useFormats } from '../../../format/use-formats.ts'
import type { CallsSearch } from '../calls-search.ts'

/** The filters that are set, in words. */
export function useSetFilters(
  search: CallsSearch,
  onChange: (changed: CallsSearch) => void,
): readonly SetFilter[] {
  const t = useTranslations('calls')
  const { count, duration } = useFormats()
  const agents = useAgentChoices()
  const keys = useKeyChoices()
  const users = useUserChoices()
  const { agent, key, user, outcome, kind, face, reason, ms, tokens, requestId, conversation } = search
  const set = (name: keyof CallsSearch, label: string, value: string | undefined, isUsual = false) =>
    value === undefined ? [] : [{ label, value, isUsual, clear: () => onChange({ [name]: undefined }) }]
  const named = (name: 'app' | 'deployment' | 'model' | 'endUser') =>
    set(name, t(`call.${name}`), search[name] === '' ? t('without') : search[name])
  return [
    ...set('agent', t('agent'), agent && (agents.find(({ id }) => id === agent)?.name ?? agent), true),
    ...set('key', t('key'), key && (keys.find(({ id }) => id === key)?.name ?? key), true),
    ...set('user', t('user'), user && (users.find(({ id }) => id === user)?.username ?? user), true),
    ...set('outcome', t('outcome'), outcome && t(`outcomes.${outcome}`), true),
    ...set('requestId', t('requestId'), requestId, true),
    ...set('conversation', t('call.conversation'), conversation),
    ...set('reason', t('call.reason'), reason),
    ...set('kind', t('call.kind'), kind && t(`call.kinds.${kind}`)),
    ...set('face', t('call.face'), face && t(`call.faces.${face}`)),
    ...named('app'),
    ...named('deployment'),
    ...named('model'),
    ...named('endUser'),
    ...set('ms', t('duration'), ms === undefined ? undefined : `≥ ${duration(ms)}`),
    ...set('tokens', t('tokens'), tokens === undefined ? undefined : `≥ ${count(tokens)}`),
  ]
}
