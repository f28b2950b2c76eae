import { queryOptions, useQuery } from '@tanstack/react-query'
import type { GraphqlDocument } from '@trunkline/sdk/graphql'
import { AgentChoicesDocument, KeyChoicesDocument, UserChoicesDocument } from '../generated/graphql.ts'
import { isPlaygroundKey } from '../playground-keys.ts'
import { gql } from '../session/gateway.ts'
import { afterPage, BESIDE_PAGE, graphqlQuery } from '../session/queries.ts'
import { useSession } from '../session/use-session.ts'

/** More entries than that no list to choose from can hold; a link from the record itself chooses any other. */
const ENTRIES_MAX = 1_000

/** Names change seldom, and these lists may take several requests. */
const STALE_MS = 60_000

/** The agents that the user may use, with their apps. */
export function useAgentChoices(enabled = true) {
  const query = { ...graphqlQuery(AgentChoicesDocument, {}), staleTime: STALE_MS, enabled }
  return useQuery(query).data?.agents ?? []
}

/** The newest users; empty for users who may not see others. */
export function useUserChoices(enabled = true) {
  const { role } = useSession()
  const users = useQuery({
    ...allOf(UserChoicesDocument, ({ users }) => users),
    enabled: enabled && role === 'admin',
  })
  return users.data ?? []
}

/** The newest keys that the user may see, without those of the playground. */
function useKeyChoices(enabled = true) {
  const keys = useQuery({ ...allOf(KeyChoicesDocument, ({ apiKeys }) => apiKeys), enabled })
  return (keys.data ?? []).filter((key) => !isPlaygroundKey(key))
}

/** What filters choose from. */
export type ChoiceKind = 'agent' | 'key' | 'user'

interface Choice {
  readonly id: string
  readonly name: string
  /** Beside others with the same name. */
  readonly label: string
}

/** The choices of these kinds alone are read. */
export function useChoices(kinds: readonly string[]): Readonly<Record<ChoiceKind, readonly Choice[]>> {
  const agents = useAgentChoices(kinds.includes('agent'))
  const keys = useKeyChoices(kinds.includes('key'))
  const users = useUserChoices(kinds.includes('user'))
  return {
    agent: agents.map(({ id, name }) => ({ id, name, label: name })),
    key: keys.map(({ id, name, keyPrefix }) => ({ id, name, label: `${name} (${keyPrefix}…)` })),
    user: users.map(({ id, username }) => ({ id, name: username, label: username })),
  }
}

interface List<Node> {
  readonly nodes: readonly Node[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string | null | undefined }
}

function allOf<Data, Node>(
  document: GraphqlDocument<Data, { after?: string | null | undefined }>,
  listOf: (data: Data) => List<Node> | null | undefined,
) {
  return queryOptions({
    queryKey: [document.toString(), 'all'],
    staleTime: STALE_MS,
    meta: BESIDE_PAGE,
    async queryFn({ signal }) {
      await afterPage()
      const nodes: Node[] = []
      for (let after: string | null | undefined = null; after !== undefined && nodes.length < ENTRIES_MAX; ) {
        const list: List<Node> | null | undefined = listOf(
          (await gql.query(document, { after }, { signal })) as Data,
        )
        nodes.push(...(list?.nodes ?? []))
        after = list?.pageInfo.hasNextPage === true ? list.pageInfo.endCursor : undefined
      }
      return nodes
    },
  })
}
