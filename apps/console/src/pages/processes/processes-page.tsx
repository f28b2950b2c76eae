import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { ProcessesDocument } from '../../generated/graphql.ts'
import { ForAdmins } from '../../lists/list-page.tsx'
import { graphqlQuery } from '../../session/queries.ts'
import { Badge } from '../../ui/badge.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Choices } from '../../ui/fields/choices.tsx'
import { Empty, ErrorNotice, Loading, Notice } from '../../ui/notice.tsx'
import { Page, Toolbar } from '../../ui/page.tsx'
import { lostWithinDay, nameOf } from './lost.ts'
import styles from './processes.module.css'
import { SHOWN, type Shown, shownOf } from './processes-search.ts'
import { ProcessesTable } from './processes-table.tsx'
import { type Process, type RunningVersion, versionsOf } from './versions-of.ts'

/** Processes tell of themselves every few seconds. */
const REFRESH_MS = 10_000

const route = getRouteApi('/shell/processes')

/** The processes that share the database, with their versions, calls and breakers. Only administrators see them. */
export function ProcessesPage() {
  const t = useTranslations('processes')
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const shown = shownOf(search)
  return (
    <ForAdmins of="processes">
      <Page
        title={t('title')}
        lead={t('lead')}
        actions={
          <Link className={buttonClass('plain')} to="/agents">
            {t('toDeployments')}
          </Link>
        }
      >
        <Toolbar label={t('filters')}>
          <Choices
            label={t('filters')}
            value={shown}
            options={SHOWN.map((value) => ({ value, label: t(`shown.${value}`) }))}
            onChange={(show) => void navigate({ search: { show }, replace: true })}
          />
        </Toolbar>
        <ProcessList shown={shown} chosen={search.id} />
      </Page>
    </ForAdmins>
  )
}

interface ProcessListProps {
  readonly shown: Shown
  readonly chosen: string | undefined
}

function ProcessList({ shown, chosen }: ProcessListProps) {
  const t = useTranslations('processes')
  const { data, error, refetch } = useQuery({
    ...graphqlQuery(ProcessesDocument, {}),
    refetchInterval: REFRESH_MS,
  })
  if (error !== null) return <ErrorNotice error={error} retry={refetch} />
  if (data === undefined) return <Loading shape="list" />
  const all = data.gatewayProcesses ?? []
  const processes = all.filter(({ state }) => shown === 'all' || (state === 'LIVE') === (shown === 'live'))
  const isGone = chosen !== undefined && !processes.some(({ id }) => id === chosen)
  return (
    <>
      {shown === 'live' && <LostNotice processes={all} />}
      {isGone && <Notice tone="info">{t('gone')}</Notice>}
      <Card title={<Versions versions={versionsOf(processes)} count={processes.length} />} isFlush>
        {processes.length === 0 ? (
          <Empty title={t('empty')} />
        ) : (
          <ProcessesTable processes={processes} chosen={chosen} />
        )}
      </Card>
    </>
  )
}

interface VersionsProps {
  readonly versions: readonly RunningVersion[]
  /** How many processes are listed. */
  readonly count: number
}

/** How many processes there are and which versions those that live have: more than one while an installation is updated. */
function Versions({ versions, count }: VersionsProps) {
  const t = useTranslations('processes')
  const isMixed = versions.length > 1
  return (
    <span className={styles.versions}>
      {t('count', { count })}
      {versions.map(({ version, processes }) => (
        <Badge key={version} tone={isMixed ? 'warn' : 'neutral'}>
          {t('ofVersion', { version: version ?? t('unknownVersion'), count: processes })}
        </Badge>
      ))}
      {isMixed && <span className={styles.mixed}>{t('mixed')}</span>}
    </span>
  )
}

/** The list has the others. */
const NAMED_MAX = 5

/** What was just lost, where the list shows only what lives. */
function LostNotice({ processes }: { readonly processes: readonly Process[] }) {
  const t = useTranslations('processes')
  const { short } = useFormats()
  const lost = lostWithinDay(processes, new Date())
  if (lost.length === 0) return null
  return (
    <Notice
      tone="warn"
      title={t('lost', { count: lost.length })}
      action={
        <Link to="/processes" search={{ show: 'ended' }}>
          {t('toEnded')}
        </Link>
      }
    >
      {lost.slice(0, NAMED_MAX).map(({ process, replacement }) => (
        <p key={process.id}>
          {t('lostOne', { name: nameOf(process), time: short(process.lastSeenAt) })}
          {replacement === undefined
            ? t('notReplaced')
            : t('replacedBy', { pid: String(replacement.pid ?? replacement.id) })}
        </p>
      ))}
    </Notice>
  )
}
