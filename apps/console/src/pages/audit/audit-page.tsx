import { getRouteApi } from '@tanstack/react-router'
import { RefreshCw } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useTranslations } from 'use-intl'
import type { AuditFilter } from '../../generated/graphql.ts'
import { useSession } from '../../session/use-session.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { AuditCsv } from './audit-csv.tsx'
import { AuditFilters } from './audit-filters.tsx'
import { AuditList } from './audit-list.tsx'
import { type AuditSearch, rangeOf } from './audit-search.ts'

const route = getRouteApi('/shell/audit')

/** The audit log: who changed what, and who logged in. Only administrators see it. */
export function AuditPage() {
  const t = useTranslations('audit')
  const { role } = useSession()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  // Fixed until the list is refreshed, so that its pages follow each other.
  const [now, setNow] = useState(() => new Date())
  const filter = useMemo(() => filterOf(search, now), [search, now])
  if (role !== 'admin')
    return (
      <Page title={t('title')}>
        <Notice tone="info">{t('adminsOnly')}</Notice>
      </Page>
    )
  return (
    <Page
      title={t('title')}
      lead={t('lead')}
      actions={
        <>
          <AuditCsv search={search} now={now} />
          <Button onClick={() => setNow(new Date())}>
            <RefreshCw aria-hidden />
            {t('refresh')}
          </Button>
        </>
      }
    >
      <AuditFilters
        search={search}
        now={now}
        onChange={(changed) => void navigate({ search: { ...search, ...changed }, replace: true })}
      />
      <AuditList filter={filter} />
    </Page>
  )
}

function filterOf(search: AuditSearch, now: Date): AuditFilter {
  const { user, key, operation, result, target, targetId, requestId } = search
  return {
    ...rangeOf(search, now),
    ...(user && { userId: user }),
    ...(key && { keyId: key }),
    ...(operation && { operation }),
    ...(result && { result }),
    ...(target && { target }),
    ...(targetId && { targetId }),
    ...(requestId && { requestId }),
  }
}
