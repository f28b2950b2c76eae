import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { UserPageDocument } from '../../../generated/graphql.ts'
import { ForAdmins } from '../../../lists/list-page.tsx'
import { graphqlQuery } from '../../../session/queries.ts'
import { useSession } from '../../../session/use-session.ts'
import { ErrorNotice, Loading } from '../../../ui/notice.tsx'
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
  return (
    <ForAdmins of="users" title={t('page.title')}>
      {user == null ? (
        <Page title={t('page.title')} lead={<Link to="/users">{t('page.toUsers')}</Link>}>
          {error === null ? <Loading /> : <ErrorNotice error={error} retry={refetch} />}
        </Page>
      ) : (
        <LoadedUser user={user} notice={error !== null && <ErrorNotice error={error} retry={refetch} />} />
      )}
    </ForAdmins>
  )
}
