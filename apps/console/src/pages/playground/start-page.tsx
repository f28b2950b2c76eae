import { useQuery } from '@tanstack/react-query'
import { Navigate } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { AgentListDocument } from '../../generated/graphql.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { Empty, ErrorNotice, Loading } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { useChats } from './chats/use-chats.ts'

/** Leads to the chat that was used last; without one, to a new chat with the first agent that answers. */
export function StartPage() {
  const t = useTranslations('playground')
  const { data, error, refetch } = useQuery(graphqlQuery(AgentListDocument, {}))
  const [, { isLoaded, list }] = useChats()
  const agents = data?.agents ?? []
  const last = list.find(({ agent }) => agents.some(({ id }) => id === agent))
  const first = agents.find(({ status }) => status !== 'UNAVAILABLE') ?? agents[0]
  if (isLoaded && last !== undefined)
    return <Navigate to="/playground/$id" params={{ id: last.agent }} search={{ chat: last.id }} replace />
  if (isLoaded && first !== undefined)
    return <Navigate to="/playground/$id" params={{ id: first.id }} replace />
  return (
    <Page title={t('title')}>
      {error !== null ? (
        <ErrorNotice error={error} retry={refetch} />
      ) : data === undefined || !isLoaded ? (
        <Loading shape="lines" />
      ) : (
        <Empty title={t('noAgents')} />
      )}
    </Page>
  )
}
