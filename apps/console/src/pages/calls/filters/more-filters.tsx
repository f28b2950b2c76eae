import { useTranslations } from 'use-intl'
import { OptionFilter } from '../../../filters/choice-filters.tsx'
import { LeastFilter } from '../../../filters/least-filter.tsx'
import { SearchFilter } from '../../../filters/search-filter.tsx'
import { type CallsSearch, FACES, KINDS } from '../calls-search.ts'
import { CALL_REASONS } from './call-reasons.ts'

interface MoreFiltersProps {
  readonly search: CallsSearch
  onChange(changed: CallsSearch): void
}

/** The names that calls can be looked for by, with their labels in `calls.call`. */
const NAMES = ['app', 'deployment', 'model', 'endUser'] as const

/** Everything else that the ledger knows of a call. */
export function MoreFilters({ search, onChange }: MoreFiltersProps) {
  const t = useTranslations('calls')
  return (
    <>
      <SearchFilter
        key={`conversation ${search.conversation}`}
        label={t('call.conversation')}
        value={search.conversation}
        maxLength={256}
        onChange={(conversation) => onChange({ conversation })}
      />
      <OptionFilter
        label={t('call.reason')}
        value={search.reason}
        options={CALL_REASONS.map((reason) => [reason, reason])}
        onChange={(reason) => onChange({ reason })}
      />
      <OptionFilter
        label={t('call.kind')}
        value={search.kind}
        options={KINDS.map((kind) => [kind, t(`call.kinds.${kind}`)])}
        onChange={(kind) => onChange({ kind: kind as CallsSearch['kind'] })}
      />
      <OptionFilter
        label={t('call.face')}
        value={search.face}
        options={FACES.map((face) => [face, t(`call.faces.${face}`)])}
        onChange={(face) => onChange({ face: face as CallsSearch['face'] })}
      />
      <OptionFilter
        label={t('pause')}
        value={search.paused?.toString()}
        options={(['true', 'false'] as const).map((paused) => [paused, t(`pauses.${paused}`)])}
        onChange={(paused) => onChange({ paused: paused === undefined ? undefined : paused === 'true' })}
      />
      {NAMES.map((name) => (
        <SearchFilter
          key={`${name} ${search[name]}`}
          label={t(`call.${name}`)}
          value={search[name]}
          onChange={(value) => onChange({ [name]: value })}
        />
      ))}
      <LeastFilter
        key={`firstMs ${search.firstMs}`}
        label={t('leastFirstMs')}
        value={search.firstMs}
        onChange={(firstMs) => onChange({ firstMs })}
      />
      <LeastFilter
        key={`ms ${search.ms}`}
        label={t('leastMs')}
        value={search.ms}
        onChange={(ms) => onChange({ ms })}
      />
      <LeastFilter
        key={`tokens ${search.tokens}`}
        label={t('leastTokens')}
        value={search.tokens}
        onChange={(tokens) => onChange({ tokens })}
      />
    </>
  )
}
