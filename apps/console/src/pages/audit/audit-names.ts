import { useNames } from '../../filters/use-names.ts'
import type { AuditFieldsFragment } from '../../generated/graphql.ts'

type Targeted = Pick<AuditFieldsFragment, 'target' | 'targetId' | 'before' | 'after'>

/** Fields of states that have the id of a user. */
const OF_USERS: readonly string[] = ['owner_id', 'created_by_id']

/**
 * Names in place of ids: as the event itself has them, which also knows those that are gone, or else as the filters of the page
 * have read them, so that no request is sent for a row. An id without a known name stands for itself.
 */
export function useAuditNames() {
  const names = useNames(['user', 'key'])
  return {
    /** What an event was done to; undefined if that has no name. */
    target({ target, targetId, before, after }: Targeted): string | undefined {
      if (targetId === null) return undefined
      const state = after ?? before
      if (target === 'user') return textIn(state, 'username') ?? names('user', targetId)
      if (target === 'api_key') return textIn(state, 'name') ?? names('key', targetId)
      return undefined
    },
    /** A value of a state as {@link compareStates} has it. */
    value(field: string, text: string | undefined): string {
      if (text === undefined || text === 'null') return '–'
      return OF_USERS.includes(field) ? names('user', text) : text
    },
  }
}

function textIn(state: Targeted['after'], field: string): string | undefined {
  const text = state?.[field]
  return typeof text === 'string' ? text : undefined
}
