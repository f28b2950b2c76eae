import type { View } from '#resources/define/resource.ts'
import { callerOf, type GraphqlContext } from '../context.ts'

/** What the values of a row depend on besides it. An operation without a caller may read what needs none. */
export function viewOf(context: GraphqlContext): View {
  return {
    now: context.now(),
    get seesPlatform() {
      return context.services.calls.seesPlatform(callerOf(context))
    },
  }
}
