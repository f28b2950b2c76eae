import { getRouteApi } from '@tanstack/react-router'
import { RefreshCw } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useTranslations } from 'use-intl'
import { findRequest } from '../../find/find-request.ts'
import { useFormats } from '../../format/use-formats.ts'
import type { CallFilter } from '../../generated/graphql.ts'
import { useSession } from '../../session/use-session.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { AlsoRefused } from './also-refused.tsx'
import { CallsList } from './calls-list.tsx'
import { rangeOf, shownRange } from './calls-range.ts'
import { type CallsSearch, conditionsOf } from './calls-search.ts'
import { CallsFilters } from './filters/calls-filters.tsx'

const route = getRouteApi('/shell/calls')

/** The ledger: a user's own calls, for an administrator all. */
export function CallsPage() {
  const t = useTranslations('calls')
  const { role } = useSession()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  // Fixed until the list is refreshed, so that its pages follow each other.
  const [now, setNow] = useState(() => new Date())
  const filter = useMemo(() => ({ ...rangeOf(search, now), ...conditionsOf(search) }), [search, now])
  return (
    <Page
      title={t('title')}
      lead={t(role === 'admin' ? 'lead' : 'leadOwn')}
      actions={
        <Button onClick={() => setNow(new Date())}>
          <RefreshCw aria-hidden />
          {t('refresh')}
        </Button>
      }
    >
      <CallsFilters
        search={search}
        now={now}
        onChange={(changed) => void navigate({ search: { ...search, ...changed }, replace: true })}
        onFind={async (requestId) => void navigate(await findRequest(requestId))}
      />
      <Bounds search={search} filter={filter} now={now} />
      {search.requestId !== undefined && <AlsoRefused requestId={search.requestId} />}
      <CallsList
        filter={filter}
        isFiltered={Object.values(search).some((value) => value !== undefined)}
        requestId={search.requestId}
      />
    </Page>
  )
}

interface BoundsProps {
  readonly search: CallsSearch
  readonly filter: CallFilter
  readonly now: Date
}

/** Says where a request or a conversation is looked for. */
function Bounds({ search, filter, now }: BoundsProps) {
  const t = useTranslations('calls')
  const { moment } = useFormats()
  if (search.requestId === undefined && search.conversation === undefined) return null
  const { from, to } = filter
  const isByItsTime = shownRange(search, now) === undefined
  return (
    <Notice tone="info">
      {t(isByItsTime ? 'byItsTime' : 'bounded', { from: moment(from ?? now), to: moment(to ?? now) })}
    </Notice>
  )
}
