import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { UserPageDocument } from '../../../generated/graphql.ts'
import { graphqlQuery } from '../../../session/queries.ts'
import { useSession } from '../../../session/use-session.ts'
import { ErrorNotice, Loading, Notice } from '../../../ui/notice.tsx'
import { Page } from '../../../ui/page.tsx'
import { LoadedUser } from './loaded-user.tsx'

const route = getRouteApi('/shell/users/$id')

/** One user, for administrators: who it is, how much it calls, and what was refused and changed. */
export function UserPage() {
  const t = useTranslations('users')
  const { id } = route.useParams()
  const isAdmin = useSession().role === 'admin'
  const { data, error, refetch } = useQuery({ ...graphqlQuery(UserPageDocument, { id }), enabled: isAdmin })
  const user = data?.user
  if (!isAdmin)
    return (
      <Page title={t('page.title')}>
        <Notice tone="info">{t('adminsOnly')}</Notice>
      </Page>
    )
  if (user !== undefined && user !== null)
    return <LoadedUser user={user} notice={error !== null && <ErrorNotice error={error} retry={refetch} />} />
  return (
    <Page title={t('page.title')} lead={<Link to="/users">{t('page.toUsers')}</Link>}>
      {error === null ? <Loading /> : <ErrorNotice error={error} retry={refetch} />}
    </Page>
  )
}
