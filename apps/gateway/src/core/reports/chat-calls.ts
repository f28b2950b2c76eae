import { DeadlineError, withDeadline } from '#core/base/async/deadline.ts'
import type { Ledger } from '#core/ledger/ledger.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { Call } from '#generated/prisma/client.ts'
import type { CallQuery, Calls } from './calls.ts'

/**
 * The calls of chats for the readers of their replies, as far as they may see them. A reply waits for its call, so that each
 * of these methods takes at most two seconds, whatever the database does. They look up the caller within that time.
 */
export type ChatCalls = ReturnType<typeof createChatCalls>

/** Finds out who asks. */
export type CallerLookUp = () => Promise<Principal>

export interface ChatCallsDeps {
  readonly calls: Pick<Calls, 'findMany'>
  readonly ledger: Pick<Ledger, 'awaitSettlement'>
}

const FOUND_WITHIN_MS = 2_000

export function createChatCalls({ calls, ledger }: ChatCallsDeps) {
  const find = async (caller: Principal, id: string, query?: CallQuery): Promise<Call | null> => {
    const [call] = await calls.findMany(caller, [id], query)
    return call ?? null
  }
  return {
    /** The call of a reply that begins; null if it was not found in time. */
    findRunning: (lookUp: CallerLookUp, id: string, query?: CallQuery): Promise<Call | null> =>
      inTime(async (found) => found(await find(await lookUp(), id, query))),
    /**
     * The call of a reply that has ended in this process. Its settlement is written in the background; this waits for it. If it
     * is not written in time, returns the call as it was read before, still running; null if it was not found in time.
     */
    async findSettled(lookUp: CallerLookUp, id: string, query?: CallQuery): Promise<Call | null> {
      const select = query?.select && { ...query.select, outcome: true }
      const columns = select === undefined ? query : { ...query, select }
      const settlement = ledger.awaitSettlement(id)
      try {
        return await inTime(async (found) => {
          const caller = await lookUp()
          const call = await find(caller, id, columns)
          found(call)
          if (call === null || call.outcome !== null) return
          await settlement.written
          found(await find(caller, id, columns))
        })
      } finally {
        settlement.leave()
      }
    },
  }
}

/** Returns the last call that the search found before it ended or ran out of time. */
async function inTime(search: (found: (call: Call | null) => void) => Promise<void>): Promise<Call | null> {
  let last: Call | null = null
  const found = (call: Call | null) => {
    last = call
  }
  try {
    await withDeadline(FOUND_WITHIN_MS, search(found))
  } catch (error) {
    if (!(error instanceof DeadlineError)) throw error
  }
  return last
}
