import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, Navigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { AgentListDocument } from '../../generated/graphql.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { Empty, ErrorNotice, Loading } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { useChats } from './chats/use-chats.ts'
import { Playground } from './playground.tsx'

const route = getRouteApi('/shell/playground/$id')

/** Leads to the chat that was used last; without one, to a new chat with the first agent that answers. */
export function StartPage() {
  const t = useTranslations('playground')
  const { data } = useQuery(graphqlQuery(AgentListDocument, {}))
  const [, { isLoaded, list }] = useChats()
  const agents = data?.agents ?? []
  const last = list.find(({ agent }) => agents.some(({ id }) => id === agent))
  const first = agents.find(({ status }) => status !== 'UNAVAILABLE') ?? agents[0]
  if (isLoaded && last !== undefined)
    return <Navigate to="/playground/$id" params={{ id: last.agent }} search={{ chat: last.id }} replace />
  if (isLoaded && first !== undefined)
    return <Navigate to="/playground/$id" params={{ id: first.id }} replace />
  return (
    <NoChat title={t('title')} isLoaded={isLoaded}>
      <Empty title={t('noAgents')} />
    </NoChat>
  )
}

/** A chat with one agent, for trying it. */
export function PlaygroundPage() {
  const t = useTranslations('playground')
  const { id } = route.useParams()
  const { data } = useQuery(graphqlQuery(AgentListDocument, {}))
  const [chats, view] = useChats()
  const agents = data?.agents ?? []
  const agent = agents.find((candidate) => candidate.id === id)
  // Before the chats are read, a draft could not be shown.
  if (agent !== undefined && view.isLoaded)
    return <Playground key={agent.id} {...{ agent, agents, chats, view }} />
  return (
    <NoChat title={agent?.name ?? id} isLoaded={agent === undefined}>
      <Empty title={t('noAgent')}>
        <Link to="/agents">{t('toAgents')}</Link>
      </Empty>
    </NoChat>
  )
}

/** What stands in the place of a chat until agents and chats are read, and where there is none. */
function NoChat(props: { readonly title: string; readonly isLoaded: boolean; readonly children: ReactNode }) {
  const { data, error, refetch } = useQuery(graphqlQuery(AgentListDocument, {}))
  return (
    <Page title={props.title}>
      {error !== null ? (
        <ErrorNotice error={error} retry={refetch} />
      ) : data === undefined || !props.isLoaded ? (
        <Loading shape="lines" />
      ) : (
        props.children
      )}
    </Page>
  )
}
