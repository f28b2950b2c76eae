import { queryOptions, useQuery } from '@tanstack/react-query'
import type { GraphqlDocument } from '@trunkline/sdk/graphql'
import {
  HealthKeysDocument,
  HealthProcessesDocument,
  HealthRefusalsDocument,
  HealthUsersDocument,
  OverviewAgentsDocument,
} from '../../../generated/graphql.ts'
import { gql } from '../../../session/gateway.ts'
import { graphqlQuery } from '../../../session/queries.ts'
import { agentConcerns, keyConcerns, processConcerns, quotaConcerns, throttledConcerns } from './concerns.ts'

/** Each reading counts towards limits, and nothing of this changes by the second. */
const REREAD_MS = 120_000
const HOUR_MS = 3_600_000

/** What is looked at beside the failures. */
const PARTS = ['agents', 'users', 'keys', 'refusals', 'processes'] as const

/** The concerns of all parts, each of which is read by itself, so that one that fails hides no other. */
export function useHealth() {
  const agents = useQuery({ ...graphqlQuery(OverviewAgentsDocument, {}), select: agentConcerns, ...REREAD })
  const users = useQuery({ ...graphqlQuery(HealthUsersDocument, {}), select: quotaConcerns, ...REREAD })
  const keys = useQuery({
    ...since(HealthKeysDocument, () => ({})),
    select: ({ data, now }) => keyConcerns(data, now),
    ...REREAD,
  })
  const refusals = useQuery({
    ...since(HealthRefusalsDocument, (now) => ({ from: new Date(now.getTime() - HOUR_MS).toISOString() })),
    select: ({ data, variables }) => throttledConcerns(data, variables.from),
    ...REREAD,
  })
  const processes = useQuery({
    ...since(HealthProcessesDocument, () => ({})),
    select: ({ data, now }) => processConcerns(data, now),
    ...REREAD,
  })
  const parts = { agents, users, keys, refusals, processes }
  const queries = Object.values(parts)
  return {
    concerns: queries.flatMap(({ data }) => data ?? []),
    isPending: queries.some(({ isPending }) => isPending),
    /** What could not be read. */
    failed: PARTS.filter((part) => parts[part].error !== null),
    retry(): void {
      for (const { error, refetch } of queries) if (error !== null) void refetch()
    },
  }
}

const REREAD = { refetchInterval: REREAD_MS, refetchOnWindowFocus: true } as const

/** A query whose variables depend on the time at which it is read, and not only on when the page was opened. */
function since<Data, Variables extends object>(
  document: GraphqlDocument<Data, Variables>,
  variablesAt: (now: Date) => Variables,
) {
  return queryOptions({
    queryKey: [document.toString(), 'since'],
    async queryFn({ signal }) {
      const now = new Date()
      const variables = variablesAt(now)
      const rest = [variables, { signal }] as never
      return { data: (await gql.query(document, ...rest)) as Data, variables, now }
    },
  })
}
