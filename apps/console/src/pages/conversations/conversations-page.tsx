import { getRouteApi } from '@tanstack/react-router'
import { CONVERSATIONS } from '../../generated/conditions.ts'
import { ConversationCountDocument, ConversationsDocument } from '../../generated/graphql.ts'
import { ListPage, useAddress } from '../../lists/list-page.tsx'
import { QueriedList } from '../../lists/paged-list.tsx'
import { client } from '../../session/gateway.ts'
import { ConversationsTable } from './conversations-table.tsx'

const route = getRouteApi('/shell/conversations')

/** What was said to agents: a user's own conversations, for an administrator all. */
export function ConversationsPage() {
  const [search, onChange] = useAddress(route)
  return (
    <ListPage
      of="conversations"
      conditions={CONVERSATIONS}
      {...{ search, onChange }}
      usual={{ agent: {}, endUser: {}, user: {} }}
      csv={(parameters) => client.conversations.csv(parameters)}
    >
      {(filter) => (
        <QueriedList
          of="conversations"
          document={ConversationsDocument}
          total={ConversationCountDocument}
          filter={{ filter }}
        >
          {(conversations) => <ConversationsTable conversations={conversations} />}
        </QueriedList>
      )}
    </ListPage>
  )
}
