import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { preloadCharts } from '../../charts/use-plot.ts'
import { findRequest } from '../../find/find-request.ts'
import { RefusalsDocument, RefusalTotalDocument } from '../../generated/graphql.ts'
import { ListPage, useAddress } from '../../lists/list-page.tsx'
import { QueriedList } from '../../lists/paged-list.tsx'
import { client } from '../../session/gateway.ts'
import { useSession } from '../../session/use-session.ts'
import { Choices } from '../../ui/fields/choices.tsx'
import { Empty, Notice } from '../../ui/notice.tsx'
import { LIMITS, useLimitName } from './limit-name.ts'
import { RefusalCounts } from './refusal-counts.tsx'
import { REASONS } from './refusal-reasons.ts'
import { COUNT_CONDITIONS, COUNT_RANGE, REFUSAL_CONDITIONS, REFUSAL_RANGE, VIEWS } from './refusals-search.ts'
import { RefusalsTable } from './refusals-table.tsx'

preloadCharts()

const route = getRouteApi('/shell/refusals')

/** What the gateway has not admitted: single requests of the last day, and how many there were of the last thirty. */
export function RefusalsPage() {
  const t = useTranslations('refusals')
  const { role } = useSession()
  const limitName = useLimitName()
  const navigate = route.useNavigate()
  const [search, change] = useAddress(route)
  const { show: view = 'single' } = search
  async function find(requestId: string) {
    const found = await findRequest(requestId)
    // An id that is found nowhere is shown on this page as not found.
    if (found.to === '/calls' && 'requestId' in found.search) change({ requestId })
    else void navigate(found)
  }
  const shared = {
    of: 'refusals',
    search,
    lead: t(role === 'admin' ? 'lead' : 'leadOwn'),
    actions: (
      <Choices
        label={t('view')}
        value={view}
        options={VIEWS.map((value) => ({ value, label: t(`views.${value}`) }))}
        onChange={(show) =>
          change({ show, range: undefined, from: undefined, to: undefined, requestId: undefined })
        }
      />
    ),
  } as const
  const usual = {
    agent: {},
    key: {},
    user: {},
    reason: { options: REASONS },
    limit: { options: LIMITS, textOf: limitName },
  }
  if (view === 'counts')
    return (
      <ListPage {...shared} conditions={COUNT_CONDITIONS} range={COUNT_RANGE} usual={usual} onChange={change}>
        {(filter, now) => (
          <>
            <Notice tone="info">{t('keptCounts')}</Notice>
            <RefusalCounts {...{ filter, search, now }} onGroup={(by) => change({ by })} />
          </>
        )}
      </ListPage>
    )
  return (
    <ListPage
      {...shared}
      conditions={REFUSAL_CONDITIONS}
      range={REFUSAL_RANGE}
      usual={{ ...usual, requestId: {} }}
      onChange={(changed) =>
        changed.requestId === undefined ? change(changed) : void find(changed.requestId)
      }
      csv={(parameters) => client.refusals.csv(parameters)}
    >
      {(filter) => (
        <>
          <Notice tone="info">{t('keptSingle')}</Notice>
          <QueriedList
            of="refusals"
            document={RefusalsDocument}
            total={RefusalTotalDocument}
            filter={{ filter }}
            empty={<NoRefusals />}
          >
            {(refusals) => <RefusalsTable refusals={refusals} />}
          </QueriedList>
        </>
      )}
    </ListPage>
  )
}

function NoRefusals() {
  const t = useTranslations('refusals')
  return (
    <Empty title={t('empty')}>
      <p>{t('emptyHint')}</p>
      <p>{t('missingHint')}</p>
      <Link to="/refusals" search={{ show: 'counts' }}>
        {t('toCounts')}
      </Link>
    </Empty>
  )
}
