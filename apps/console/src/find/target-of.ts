import type { Entry } from './entries.ts'
import { findById } from './find-request.ts'

/** The page of an entry. That of a request is not known before it is looked for. */
export function targetOf(entry: Exclude<Entry, { kind: 'request' }>) {
  switch (entry.kind) {
    case 'page':
      return { to: entry.page.to }
    case 'agent':
      return entry.isChat
        ? ({ to: '/playground/$id', params: { id: entry.agent.id } } as const)
        : ({ to: '/agents', search: { id: entry.agent.id } } as const)
    case 'key':
      return { to: '/keys/$id', params: { id: entry.apiKey.id } } as const
    case 'user':
      return { to: '/users/$id', params: { id: entry.user.id } } as const
  }
}

export async function findTarget(entry: Entry) {
  return entry.kind === 'request' ? await findById(entry.text) : targetOf(entry)
}
