import type { ComponentType } from 'react'
import type { AgentChoicesQuery, MatchedKeyFragment, MatchedUserFragment } from '../generated/graphql.ts'
import { isPlaygroundKey } from '../playground-keys.ts'

/** A page of the menu. */
export interface PageEntry {
  readonly to: string
  readonly label: string
  readonly icon: ComponentType<{ readonly 'aria-hidden': true }>
}

type Agent = NonNullable<AgentChoicesQuery['agents']>[number]

/** What the gateway finds. */
export interface Matches {
  readonly keys: readonly MatchedKeyFragment[]
  readonly users: readonly MatchedUserFragment[]
}

/** One of the things that a text may mean. `id` is unique among them, and valid as the id of an element. */
export type Entry =
  | { readonly kind: 'page'; readonly id: string; readonly page: PageEntry }
  /** Its row in the list of agents, or a chat with it. */
  | { readonly kind: 'agent'; readonly id: string; readonly agent: Agent; readonly isChat: boolean }
  | { readonly kind: 'key'; readonly id: string; readonly apiKey: MatchedKeyFragment }
  | { readonly kind: 'user'; readonly id: string; readonly user: MatchedUserFragment }
  /** Whatever has this id: a call, or the calls and refusals of a request. */
  | { readonly kind: 'request'; readonly id: string; readonly text: string }

export interface Wanted {
  readonly text: string
  /** Whether the text is the prefix of an API key that was pasted as a whole. Nothing but that key is looked for then. */
  readonly isKey: boolean
}

interface Sources {
  readonly pages: readonly PageEntry[]
  readonly agents: readonly Agent[]
  /** Undefined while it is read. */
  readonly matches: Matches | undefined
}

const AGENTS_MAX = 5
const KEYS_MAX = 5

/** What a text may mean, in the order in which it is offered; all pages for no text. */
export function entriesOf({ text, isKey }: Wanted, { pages, agents, matches }: Sources): readonly Entry[] {
  const keys = (matches?.keys ?? [])
    .filter((key) => (isKey ? key.keyPrefix === text : !isPlaygroundKey(key)))
    .slice(0, KEYS_MAX)
    .map((apiKey) => ({ kind: 'key' as const, id: `find-key-${apiKey.id}`, apiKey }))
  if (isKey) return keys
  const wanted = text.toLowerCase()
  const isMeant = (...names: readonly string[]) => names.some((name) => name.toLowerCase().includes(wanted))
  return [
    ...pages
      .filter(({ label, to }) => isMeant(label, to))
      .map((page) => ({ kind: 'page' as const, id: `find-page-${page.to.replaceAll('/', '-')}`, page })),
    ...(text === '' ? [] : agents)
      .filter(({ id, name }) => isMeant(id, name))
      .slice(0, AGENTS_MAX)
      .flatMap((agent) => [
        { kind: 'agent' as const, id: `find-agent-${agent.id}`, agent, isChat: false },
        { kind: 'agent' as const, id: `find-chat-${agent.id}`, agent, isChat: true },
      ]),
    ...keys,
    ...(matches?.users ?? []).map((user) => ({
      kind: 'user' as const,
      id: `find-user-${user.id}`,
      user,
    })),
    ...(text === '' ? [] : [{ kind: 'request' as const, id: 'find-request', text }]),
  ]
}

/** A list is read from end to end by a search, so it is searched for no less than this. One Chinese character is a name. */
export function isSearchable(text: string): boolean {
  return text.length > 1 || /[^\p{ASCII}]/u.test(text)
}
