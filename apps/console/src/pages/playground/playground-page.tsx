import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { AgentListDocument } from '../../generated/graphql.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { Empty, ErrorNotice, Loading } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { Playground } from './playground.tsx'

const route = getRouteApi('/shell/agents/$id')

/** A chat with one agent, for trying it. */
export function PlaygroundPage() {
  const t = useTranslations('playground')
  const { id } = route.useParams()
  const { data, error, refetch } = useQuery(graphqlQuery(AgentListDocument, {}))
  const agent = data?.agents?.find((candidate) => candidate.id === id)
  if (agent !== undefined) return <Playground key={agent.id} agent={agent} />
  return (
    <Page title={id}>
      {error !== null ? (
        <ErrorNotice error={error} retry={refetch} />
      ) : data === undefined ? (
        <Loading lines={6} />
      ) : (
        <Empty title={t('noAgent')}>
          <Link to="/agents">{t('toAgents')}</Link>
        </Empty>
      )}
    </Page>
  )
}
