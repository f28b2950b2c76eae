import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { UserPageDocument } from '../../../generated/graphql.ts'
import { ForAdmins } from '../../../lists/list-page.tsx'
import { graphqlQuery } from '../../../session/queries.ts'
import { useSession } from '../../../session/use-session.ts'
import { ErrorNotice } from '../../../ui/notice.tsx'
import { UnreadPage } from '../../../ui/unread-page.tsx'
import { LoadedUser } from './loaded-user.tsx'

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
