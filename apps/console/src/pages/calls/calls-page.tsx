import { getRouteApi } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import type { Times } from '../../filters/range.ts'
import { findRequest } from '../../find/find-request.ts'
import { useFormats } from '../../format/use-formats.ts'
import { ListPage, useAddress } from '../../lists/list-page.tsx'
import { useSession } from '../../session/use-session.ts'
import { Notice } from '../../ui/notice.tsx'
import { AlsoRefused } from './also-refused.tsx'
import { CALL_REASONS } from './call-reasons.ts'
import { CallsList } from './calls-list.tsx'
import { CALL_RANGE, shownRange } from './calls-range.ts'
import { CALL_CONDITIONS, type CallsSearch, callFilterOf } from './calls-search.ts'

const route = getRouteApi('/shell/calls')

/** The ledger: a user's own calls, for an administrator all. */
export function CallsPage() {
  const t = useTranslations('calls')
  const { role } = useSession()
  const { duration } = useFormats()
  const navigate = route.useNavigate()
  const [search, change] = useAddress(route)
  const { requestId } = search
  const named = { textOf: (name: string) => name || t('without') }
  const least = (ms: string) => `≥ ${duration(Number(ms))}`
  return (
    <ListPage
      of="calls"
      conditions={CALL_CONDITIONS}
      range={CALL_RANGE}
      search={search}
      onChange={(changed) =>
        changed.requestId === undefined
          ? change(changed)
          : void findRequest(changed.requestId).then((found) => navigate(found))
      }
      usual={{ agent: {}, key: {}, user: {}, outcome: {}, requestId: {} }}
      more={{
        conversation: {},
        reason: { options: CALL_REASONS },
        kind: {},
        face: { options: ['REST', 'OPENAI', 'RESPONSES', 'GRAPHQL'] },
        paused: { label: t('pause'), textOf: (paused) => t(`pauses.${paused}`) },
        app: named,
        deployment: named,
        model: named,
        endUser: named,
        firstMs: { label: t('leastFirstMs'), chip: t('firstChunk'), textOf: least },
        ms: { label: t('leastMs'), chip: t('duration'), textOf: least },
        tokens: { label: t('leastTokens'), chip: t('tokens') },
      }}
      lead={t(role === 'admin' ? 'lead' : 'leadOwn')}
    >
      {(filter, now) => (
        <>
          <Bounds search={search} times={filter} now={now} />
          {requestId !== undefined && <AlsoRefused requestId={requestId} />}
          <CallsList
            filter={callFilterOf(filter)}
            isFiltered={Object.values(search).some((value) => value !== undefined)}
            requestId={requestId}
          />
        </>
      )}
    </ListPage>
  )
}

interface BoundsProps {
  readonly search: CallsSearch
  readonly times: Times
  readonly now: Date
}

/** Says where a request or a conversation is looked for. */
function Bounds({ search, times: { from, to }, now }: BoundsProps) {
  const t = useTranslations('calls')
  const { moment } = useFormats()
  if (search.requestId === undefined && search.conversation === undefined) return null
  const isByItsTime = shownRange(search, now) === undefined
  return (
    <Notice tone="info">
      {t(isByItsTime ? 'byItsTime' : 'bounded', { from: moment(from ?? now), to: moment(to ?? now) })}
    </Notice>
  )
}
