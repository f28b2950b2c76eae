import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import { UserPageDocument } from '../../../generated/graphql.ts'
import { ForAdmins } from '../../../lists/list-page.tsx'
import { graphqlQuery } from '../../../session/queries.ts'
import { useSession } from '../../../session/use-session.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card, Cards } from '../../../ui/card.tsx'
import { CodeWithCopy } from '../../../ui/copy/code-with-copy.tsx'
import { Facts } from '../../../ui/facts.tsx'
import { ErrorNotice } from '../../../ui/notice.tsx'
import { Page } from '../../../ui/page.tsx'
import { UnreadPage } from '../../../ui/unread-page.tsx'
import { EditUserDialog } from '../edit-user-dialog.tsx'
import { PasswordDialog } from '../password-dialog.tsx'
import { QuotaUse } from '../quota-use.tsx'
import { StatusDialog } from '../status-dialog.tsx'
import { lowerCase, type UserAction } from '../user-record.ts'
import styles from './user.module.css'
import type { UserDetails } from './user-details.ts'
import { UserLists } from './user-lists.tsx'

const route = getRouteApi('/shell/users/$id')

/** One user, for administrators: who it is, how much it calls, and what was refused and changed. */
export function UserPage() {
  const t = useTranslations('users')
  const { id } = route.useParams()
  const isAdmin = useSession().role === 'admin'
  const query = useQuery({ ...graphqlQuery(UserPageDocument, { id }), enabled: isAdmin })
  const { data, error, refetch } = query
  const user = data?.user
  return (
    <ForAdmins of="users" title={t('page.title')}>
      {user == null ? (
        <UnreadPage
          title={t('page.title')}
          lead={<Link to="/users">{t('page.toUsers')}</Link>}
          query={query}
        />
      ) : (
        <LoadedUser user={user} notice={error !== null && <ErrorNotice error={error} retry={refetch} />} />
      )}
    </ForAdmins>
  )
}

interface LoadedUserProps {
  readonly user: UserDetails
  /** Why it could not be read again. */
  readonly notice: ReactNode
}

function LoadedUser({ user, notice }: LoadedUserProps) {
  const t = useTranslations('users')
  const [open, setOpen] = useState<UserAction>()
  const close = () => setOpen(undefined)
  const isActive = user.status === 'ACTIVE'
  return (
    <Page
      title={user.username}
      lead={t('page.lead')}
      actions={
        <>
          <Button onClick={() => setOpen('edit')}>{t('page.edit')}</Button>
          <Button onClick={() => setOpen('password')}>{t('setPassword')}</Button>
          <Button look={isActive ? 'danger' : 'plain'} onClick={() => setOpen('status')}>
            {t(isActive ? 'suspend' : 'activate')}
          </Button>
        </>
      }
    >
      {notice}
      <Cards>
        <UserFacts user={user} />
        <UserQuota user={user} />
      </Cards>
      <UserLists user={user} />
      {open === 'edit' && <EditUserDialog user={user} onClose={close} />}
      {open === 'password' && <PasswordDialog user={user} onClose={close} />}
      {open === 'status' && <StatusDialog user={user} onClose={close} />}
    </Page>
  )
}

/** Who the user is. */
function UserFacts({ user }: { readonly user: UserDetails }) {
  const t = useTranslations('users')
  const common = useTranslations('common')
  const { moment } = useFormats()
  const { id, role, status, createdAt, lastLogin } = user
  return (
    <Card
      title={t('page.who')}
      aside={<Badge tone={status === 'ACTIVE' ? 'ok' : 'danger'}>{t(`statuses.${lowerCase(status)}`)}</Badge>}
    >
      <Facts
        facts={[
          [t('role'), common(`roles.${lowerCase(role)}`)],
          [t('page.id'), <CodeWithCopy key="id" text={id} />],
          [t('page.created'), moment(createdAt)],
          [t('lastLogin'), lastLogin === null ? t('neverLoggedIn') : moment(lastLogin)],
        ]}
      />
    </Card>
  )
}

/** How much of the quota is used, and the way to what it was used for. */
function UserQuota({ user }: { readonly user: UserDetails }) {
  const t = useTranslations('users')
  const { moment } = useFormats()
  const { resetsAt } = user.quota
  return (
    <Card
      title={t('page.quota')}
      aside={
        <Link to="/usage" search={{ user: user.id, range: '30d', group: 'key' }}>
          {t('page.toUsage')}
        </Link>
      }
    >
      <div className={styles.quota}>
        <QuotaUse user={user} />
        {resetsAt !== null && <p>{t('page.resets', { at: moment(resetsAt) })}</p>}
      </div>
    </Card>
  )
}
