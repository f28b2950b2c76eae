import { getRouteApi, Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { useSession } from '../../session/use-session.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Choices } from '../../ui/fields/choices.tsx'
import { CheckField, TextField } from '../../ui/fields/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Page, Toolbar } from '../../ui/page.tsx'
import { CreateKey } from './create-key.tsx'
import styles from './keys.module.css'
import { KeysList } from './keys-list.tsx'
import type { KeysSearch } from './keys-search.ts'

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
          value={search.all === true ? 'all' : 'active'}
          options={[
            { value: 'active', label: t('active') },
            { value: 'all', label: t('all') },
          ]}
          onChange={(value) => change({ all: value === 'all' ? true : undefined })}
        />
        <div className={styles.beside}>
          <CheckField
            label={t('showPlayground')}
            checked={search.playground === true}
            onChange={({ target }) => change({ playground: target.checked ? true : undefined })}
          />
        </div>
      </Toolbar>
      <KeysList
        search={search.search}
        showAll={search.all === true}
        showPlayground={search.playground === true}
      />
      {mayCreate && search.new === true && <CreateKey />}
    </Page>
  )
}
