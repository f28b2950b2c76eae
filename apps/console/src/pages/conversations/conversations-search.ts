import { conditionsIn } from '../../filters/conditions.ts'
import { CONVERSATIONS } from '../../generated/conditions.ts'

/** Which conversations are listed, as the address says it. */
export const conversationsSearch = (search: Record<string, unknown>) => conditionsIn(CONVERSATIONS, search)
