import { getRouteApi } from '@tanstack/react-router'
import { RefreshCw } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useTranslations } from 'use-intl'
import { preloadCharts } from '../../charts/use-plot.ts'
import { findRequest } from '../../find/find-request.ts'
import type { RefusalCountFilter } from '../../generated/graphql.ts'
import { useSession } from '../../session/use-session.ts'
import { Button } from '../../ui/button.tsx'
import { Choices } from '../../ui/fields/choices.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { RefusalCounts } from './refusal-counts.tsx'
import { RefusalsCsv } from './refusals-csv.tsx'
import { RefusalsFilters } from './refusals-filters.tsx'
import { RefusalsList } from './refusals-list.tsx'
import { type RefusalsSearch, rangeOf, VIEWS } from './refusals-search.ts'

preloadCharts()

const route = getRouteApi('/shell/refusals')

/** What the gateway has not admitted: single requests of the last day, and how many there were of the last thirty. */
export function RefusalsPage() {
  const t = useTranslations('refusals')
  const { role } = useSession()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  // Fixed until the list is refreshed, so that its pages follow each other.
  const [now, setNow] = useState(() => new Date())
  const filter = useMemo(() => filterOf(search, now), [search, now])
  const view = search.show ?? 'single'
  const change = (changed: RefusalsSearch) =>
    void navigate({ search: { ...search, ...changed }, replace: true })
  return (
    <Page
      title={t('title')}
      lead={t(role === 'admin' ? 'lead' : 'leadOwn')}
      actions={
        <>
          <Choices
            label={t('view')}
            value={view}
            options={VIEWS.map((value) => ({ value, label: t(`views.${value}`) }))}
            onChange={(show) =>
              change({ show, range: undefined, from: undefined, to: undefined, requestId: undefined })
            }
          />
          {view === 'single' && <RefusalsCsv search={search} now={now} />}
          <Button onClick={() => setNow(new Date())}>
            <RefreshCw aria-hidden />
            {t('refresh')}
          </Button>
        </>
      }
    >
      <RefusalsFilters
        search={search}
        now={now}
        onChange={change}
        onFind={async (requestId) => {
          const found = await findRequest(requestId)
          // An id that is found nowhere is shown on this page as not found.
          if (found.to === '/calls' && 'requestId' in found.search) change({ requestId })
          else void navigate(found)
        }}
      />
      <Notice tone="info">{t(view === 'single' ? 'keptSingle' : 'keptCounts')}</Notice>
      {view === 'single' ? (
        <RefusalsList filter={{ ...filter, ...(search.requestId && { requestId: search.requestId }) }} />
      ) : (
        <RefusalCounts {...{ filter, search, now }} onGroup={(by) => change({ by })} />
      )}
    </Page>
  )
}

/** The conditions that single refusals and counts share. */
function filterOf(search: RefusalsSearch, now: Date): RefusalCountFilter {
  const { agent, key, user, reason, limit } = search
  return {
    ...rangeOf(search, now),
    ...(agent && { agentId: agent }),
    ...(key && { keyId: key }),
    ...(user && { ownerId: user }),
    ...(reason && { reason }),
    ...(limit && { limitName: limit }),
  }
}
