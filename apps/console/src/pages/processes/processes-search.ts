import { oneOf, textsIn } from '../../filters/address.ts'

export const SHOWN = ['live', 'ended', 'all'] as const
export type Shown = (typeof SHOWN)[number]

/** Which processes are listed, as the address says it. */
export interface ProcessesSearch {
  readonly show?: Shown | undefined
  /** The one to which a link leads. */
  readonly id?: string | undefined
}

export function processesSearch(search: Record<string, unknown>): ProcessesSearch {
  return { ...oneOf(search, 'show', SHOWN), ...textsIn(search, ['id']) }
}

/** By default the live processes, but all if a link leads to a single one, which may have ended. */
export function shownOf({ show, id }: ProcessesSearch): Shown {
  return show ?? (id === undefined ? 'live' : 'all')
}
