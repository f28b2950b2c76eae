import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, Navigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { AgentListDocument } from '../../generated/graphql.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { Empty, ErrorNotice, Loading } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { Playground } from './playground.tsx'

const route = getRouteApi('/shell/playground/$id')

/** Leads to a new chat with the first agent that answers. */
export function StartPage() {
  const t = useTranslations('playground')
  const { data } = useQuery(graphqlQuery(AgentListDocument, {}))
  const agents = data?.agents ?? []
  const first = agents.find(({ status }) => status !== 'UNAVAILABLE') ?? agents[0]
  if (first !== undefined) return <Navigate to="/playground/$id" params={{ id: first.id }} replace />
  return (
    <NoChat title={t('title')}>
      <Empty title={t('noAgents')} />
    </NoChat>
  )
}

/** A chat with one agent, for trying it. */
export function PlaygroundPage() {
  const t = useTranslations('playground')
  const { id } = route.useParams()
  const { data } = useQuery(graphqlQuery(AgentListDocument, {}))
  const agents = data?.agents ?? []
  const agent = agents.find((candidate) => candidate.id === id)
  if (agent !== undefined) return <Playground key={agent.id} {...{ agent, agents }} />
  return (
    <NoChat title={id}>
      <Empty title={t('noAgent')}>
        <Link to="/agents">{t('toAgents')}</Link>
      </Empty>
    </NoChat>
  )
}

/** What stands in the place of a chat until the agents are read, and where there is none. */
function NoChat({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const { data, error, refetch } = useQuery(graphqlQuery(AgentListDocument, {}))
  return (
    <Page title={title}>
      {error !== null ? (
        <ErrorNotice error={error} retry={refetch} />
      ) : data === undefined ? (
        <Loading shape="lines" />
      ) : (
        children
      )}
    </Page>
  )
}
