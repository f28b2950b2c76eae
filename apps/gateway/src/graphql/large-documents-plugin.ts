import type { Plugin } from 'graphql-yoga'
import type { Services } from '#core/services/services.ts'
import { type OperationPlace, readCredential } from './context.ts'

/**
 * A document of this length has some 600 tokens, and takes longer to parse, validate and execute than a chat takes in all.
 * Documents that are known by their ids, such as the console's, are not sent and wait for nothing.
 */
const LARGE_CHARACTERS = 2_500

/**
 * Lets the large documents of one user take turns, from before they are parsed: that takes the event loop, and with it the
 * chats of all. Documents without a valid credential may not be large.
 */
export function useLargeDocuments(
  services: Pick<Services, 'authentication' | 'reads'>,
): Plugin<object, OperationPlace> {
  return {
    onParams({ params, context: place, paramsHandler, setParamsHandler }) {
      if ((params.query?.length ?? 0) <= LARGE_CHARACTERS) return
      setParamsHandler(async (payload) => {
        const { caller } = await readCredential(services, place)
        if (caller === undefined) return paramsHandler(payload)
        const endTurn = await services.reads.beginLarge(caller, place.signal)
        try {
          return await paramsHandler(payload)
        } finally {
          endTurn()
        }
      })
    },
  }
}
