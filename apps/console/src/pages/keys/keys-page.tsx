import { getRouteApi, Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { UserFilter } from '../../filters/choice-filters.tsx'
import { useSession } from '../../session/use-session.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Choices } from '../../ui/fields/choices.tsx'
import { CheckField, TextField } from '../../ui/fields/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Page, Toolbar } from '../../ui/page.tsx'
import { CreateKey } from './create-key.tsx'
import styles from './keys.module.css'
import { type KeysSearch, STATES } from './keys-search.ts'
import { KeysList } from './list/keys-list.tsx'
import { SOON_DAYS } from './state/key-expiry.ts'

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
      <Toolbar label={t('filters')}>
        <TextField
          label={t('search')}
          type="search"
          maxLength={100}
          defaultValue={search.search}
          onChange={({ target }) => change({ search: target.value === '' ? undefined : target.value })}
        />
        <Choices
          label={t('show')}
          value={search.state ?? 'active'}
          options={STATES.map((value) => ({ value, label: t(value === 'all' ? 'all' : `states.${value}`) }))}
          onChange={(state) => change({ state: state === 'active' ? undefined : state })}
        />
        <UserFilter value={search.owner} onChange={(owner) => change({ owner })} />
        <div className={styles.beside}>
          <CheckField
            label={t('showExpiring', { days: SOON_DAYS })}
            checked={search.expiring === true}
            onChange={({ target }) => change({ expiring: target.checked ? true : undefined })}
          />
          <CheckField
            label={t('showPlayground')}
            checked={search.playground === true}
            onChange={({ target }) => change({ playground: target.checked ? true : undefined })}
          />
        </div>
      </Toolbar>
      <KeysList search={search} onChange={change} />
      {mayCreate && search.new === true && <CreateKey />}
    </Page>
  )
}
