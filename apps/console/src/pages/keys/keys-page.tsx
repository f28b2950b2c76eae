import { getRouteApi, Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { useSession } from '../../session/use-session.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { CreateKey } from './create-key.tsx'
import type { KeysSearch } from './keys-search.ts'
import { KeysFilters } from './list/keys-filters.tsx'
import { KeysList } from './list/keys-list.tsx'

const route = getRouteApi('/shell/keys')

/** The API keys that the user made or owns; for an administrator all. */
export function KeysPage() {
  const t = useTranslations('keys')
  const { role } = useSession()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const mayCreate = role !== 'user'
  const change = (changed: KeysSearch) => void navigate({ search: { ...search, ...changed }, replace: true })
  return (
    <Page
      title={t('title')}
      lead={t('lead')}
      actions={
        mayCreate && (
          <Link to="/keys" search={{ ...search, new: true }} className={buttonClass('primary')}>
            <Plus aria-hidden />
            {t('new')}
          </Link>
        )
      }
    >
      {!mayCreate && <Notice tone="info">{t('userRole')}</Notice>}
      <KeysFilters search={search} onChange={change} />
      <KeysList search={search} onChange={change} />
      {mayCreate && search.new === true && <CreateKey />}
    </Page>
  )
}
