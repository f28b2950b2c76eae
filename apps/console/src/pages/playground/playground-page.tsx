import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { AgentListDocument } from '../../generated/graphql.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { Empty, ErrorNotice, Loading } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { useChats } from './chats/use-chats.ts'
import { Playground } from './playground.tsx'

const route = getRouteApi('/shell/playground/$id')

/** A chat with one agent, for trying it. */
export function PlaygroundPage() {
  const t = useTranslations('playground')
  const { id } = route.useParams()
  const { data, error, refetch } = useQuery(graphqlQuery(AgentListDocument, {}))
  const [chats, view] = useChats()
  const agents = data?.agents ?? []
  const agent = agents.find((candidate) => candidate.id === id)
  // Before the chats are read, a draft could not be shown.
  if (agent !== undefined && view.isLoaded)
    return <Playground key={agent.id} {...{ agent, agents, chats, view }} />
  return (
    <Page title={agent?.name ?? id}>
      {error !== null ? (
        <ErrorNotice error={error} retry={refetch} />
      ) : data === undefined || agent !== undefined ? (
        <Loading shape="lines" />
      ) : (
        <Empty title={t('noAgent')}>
          <Link to="/agents">{t('toAgents')}</Link>
        </Empty>
      )}
    </Page>
  )
}
