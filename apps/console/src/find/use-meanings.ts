import { queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useAgentChoices } from '../choose/use-choices.ts'
import { MatchByIdDocument, MatchesDocument } from '../generated/graphql.ts'
import { gql } from '../session/gateway.ts'
import { queryClient } from '../session/queries.ts'
import { useSession } from '../session/use-session.ts'
import { type Entry, entriesOf, isSearchable, type Matches, type PageEntry, type Wanted } from './entries.ts'
import { UUID } from './find-request.ts'

/** So long after the last letter the lists of keys and users are searched. */
const SETTLES_MS = 200

/** What a text may mean: at once what the console knows by itself, and a little later what the gateway finds. */
export function useMeanings(wanted: Wanted, pages: readonly PageEntry[]) {
  const agents = useAgentChoices()
  const { role } = useSession()
  const { text } = wanted
  const settled = useSettled(text)
  const queryOf = (text: string) => matchesQuery(text, role === 'admin')
  const query = useQuery({ ...queryOf(settled), enabled: isSearchable(settled) })
  const matches = settled === text ? query.data : undefined
  return {
    entries: entriesOf(wanted, { pages, agents, matches }),
    /** Whether keys and users are still being searched. */
    isSearching: isSearchable(text) && (settled !== text || query.isFetching),
    /** Why keys and users could not be searched. */
    error: settled === text ? query.error : null,
    /** What the text means once keys and users have been searched, without those if they cannot be. */
    async readAll(): Promise<readonly Entry[]> {
      const found = isSearchable(text)
        ? await queryClient.fetchQuery(queryOf(text)).catch(() => undefined)
        : undefined
      return entriesOf(wanted, { pages, agents, matches: found })
    },
  }
}

/** Ids are looked up; for anything else the lists are searched from end to end. */
function matchesQuery(text: string, seesUsers: boolean) {
  return queryOptions({
    queryKey: ['matches', text, seesUsers],
    // A user who types on must not wait for a limit that only this search has reached.
    retry: false,
    async queryFn({ signal }): Promise<Matches> {
      if (UUID.test(text)) {
        const { nodes } = await gql.query(MatchByIdDocument, { id: text }, { signal })
        const [found] = nodes ?? []
        return {
          keys: found && 'keyPrefix' in found ? [found] : [],
          users: seesUsers && found && 'username' in found ? [found] : [],
        }
      }
      const { apiKeys, users } = await gql.query(MatchesDocument, { text, seesUsers }, { signal })
      return { keys: apiKeys?.nodes ?? [], users: users?.nodes ?? [] }
    },
  })
}

/** The text once it has stayed the same for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLES_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
