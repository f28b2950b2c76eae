import { useInfiniteQuery } from '@tanstack/react-query'
import { useTranslations } from 'use-intl'
import { UserListDocument, UserTotalDocument } from '../../generated/graphql.ts'
import { ListCount } from '../../lists/list-count.tsx'
import { type Order, orderOf, orderText } from '../../lists/order.ts'
import { usePageSize } from '../../lists/page-size.ts'
import { PagedList } from '../../lists/paged-list.tsx'
import { graphqlPages } from '../../session/queries.ts'
import { Empty } from '../../ui/notice.tsx'
import type { UserAction, UserRecord } from './user-record.ts'
import { UserTable } from './user-table.tsx'
import { ORDERS, type UsersSearch } from './users-search.ts'

interface UsersListProps {
  readonly search: UsersSearch
  onChange(changed: UsersSearch): void
  onAction(action: UserAction, user: UserRecord): void
}

const NEWEST_FIRST: Order<(typeof ORDERS)[number]> = { field: 'CREATED_AT', direction: 'DESC' }

/** The users that match, page after page. */
export function UsersList({ search, onChange, onAction }: UsersListProps) {
  const t = useTranslations('users')
  const [first] = usePageSize()
  const order = orderOf(search.order, ORDERS) ?? NEWEST_FIRST
  const filter = filterOf(search)
  const variables = { ...filter, first, orderBy: order.field, order: order.direction }
  const query = useInfiniteQuery(graphqlPages(UserListDocument, variables, ({ users }) => users))
  return (
    <PagedList
      query={query}
      rowsOf={(page) => page.users?.nodes}
      title={
        <ListCount
          of="users"
          document={UserTotalDocument}
          variables={filter}
          countOf={({ users }) => users?.totalCount}
        />
      }
      empty={<Empty title={t('empty')} />}
    >
      {(users) => (
        <UserTable
          users={users}
          order={order}
          onOrder={(chosen) => onChange({ order: orderText(chosen) })}
          onAction={onAction}
        />
      )}
    </PagedList>
  )
}

function filterOf({ search = '', role, status, quota }: UsersSearch) {
  return {
    search,
    role: role ?? null,
    state: status ?? null,
    quotaPercentMin: quota ?? null,
  }
}
