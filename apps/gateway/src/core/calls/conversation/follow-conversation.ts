import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { Problem } from '#core/base/errors/errors.ts'
import type { Route } from '#core/calls/routing/route.ts'
import { type CallEnding, type Entered, LivesElsewhere } from './enter-conversation.ts'

/** How often a call follows its conversation to another deployment before anything is sent. */
const MOVES_MAX = 3

/**
 * Waits until a conversation has been entered, and follows it if it turns out to live at another deployment.
 *
 * @param entering - the first try, at the deployment of the route
 * @param enterAgain - enters it at the deployment to which the route has moved
 * @throws Problem `conversation_busy` if it moves again and again
 */
export async function followConversation(
  entering: Entered | Promise<Entered>,
  { ending, route, enterAgain }: Following,
): Promise<Entered> {
  let opening = entering
  for (let moves = 0; ; moves += 1) {
    try {
      return await opening
    } catch (error) {
      if (!(error instanceof LivesElsewhere) || ending.isOver) throw error
      // Others that begin the same conversation at the same time may move it, each of them once.
      if (moves === MOVES_MAX) throw new Problem('conversation_busy')
      route.moveTo(error.residence)
      opening = markRejectionHandled(enterAgain())
    }
  }
}

interface Following {
  readonly ending: Pick<CallEnding, 'isOver'>
  readonly route: Pick<Route, 'moveTo'>
  readonly enterAgain: () => Entered | Promise<Entered>
}
