import type { Services } from '#core/services/services.ts'
import { type OperationPlace, readCredential } from '../context.ts'

/**
 * A document of this length has some 600 tokens, and takes longer to parse, validate and execute than a chat takes in all.
 * Documents that are known by their ids, such as the console's, are not sent and wait for nothing.
 */
const LARGE_CHARACTERS = 2_500

/**
 * Waits until the large documents that the same user sent before are done, and returns the function that ends the turn. It must
 * be called before the document is parsed: that takes the event loop, and with it the chats of all. Documents without a valid
 * credential may not be large.
 */
export async function takeLargeDocumentTurn(
  services: Pick<Services, 'authentication' | 'reads'>,
  { query }: { readonly query?: string | undefined },
  place: OperationPlace,
): Promise<(() => void) | undefined> {
  if ((query?.length ?? 0) <= LARGE_CHARACTERS) return undefined
  const { caller } = await readCredential(services, place)
  return caller && services.reads.beginLarge(caller, place.signal)
}
