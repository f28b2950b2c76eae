import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { ConversationCountDocument, ConversationsDocument } from '../../generated/graphql.ts'
import { ListCount } from '../../lists/list-count.tsx'
import { usePageSize } from '../../lists/page-size.ts'
import { PagedList } from '../../lists/paged-list.tsx'
import { client } from '../../session/gateway.ts'
import { graphqlPages } from '../../session/queries.ts'
import { Empty } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { SaveCsv } from '../../ui/save-csv.tsx'
import { ConversationsFilters } from './conversations-filters.tsx'
import { ConversationsTable } from './conversations-table.tsx'

const route = getRouteApi('/shell/conversations')

/** What was said to agents: a user's own conversations, for an administrator all. */
export function ConversationsPage() {
  const t = useTranslations('conversations')
  const { search, agent, endUser, user } = route.useSearch()
  const navigate = route.useNavigate()
  const [first] = usePageSize()
  const filter = {
    ...(search && { search }),
    ...(agent && { agentId: agent }),
    ...(endUser && { endUser }),
    ...(user && { ownerId: user }),
  }
  const query = useInfiniteQuery(
    graphqlPages(ConversationsDocument, { filter, first }, ({ conversations }) => conversations),
  )
  const csv = () =>
    client.conversations.csv({
      ...(search && { search }),
      ...(agent && { agent }),
      ...(endUser && { end_user: endUser }),
      ...(user && { owner_id: user }),
    })
  return (
    <Page title={t('title')} lead={t('lead')} actions={<SaveCsv name="conversations.csv" read={csv} />}>
      <ConversationsFilters
        search={{ search, agent, endUser, user }}
        onChange={(changed) =>
          void navigate({ search: (before) => ({ ...before, ...changed }), replace: true })
        }
      />
      <PagedList
        query={query}
        rowsOf={(page) => page.conversations?.nodes}
        title={
          <ListCount
            of="conversations"
            document={ConversationCountDocument}
            variables={{ filter }}
            countOf={({ conversations }) => conversations?.totalCount}
          />
        }
        empty={
          <Empty title={t('empty')}>
            <p>{t('emptyHint')}</p>
          </Empty>
        }
      >
        {(conversations) => <ConversationsTable conversations={conversations} />}
      </PagedList>
    </Page>
  )
}
