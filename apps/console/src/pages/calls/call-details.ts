import type { CallQuery } from '../../generated/graphql.ts'

/** A call with everything that its page shows. */
export type CallDetails = NonNullable<CallQuery['call']>
