import type { Runtime } from '#core/base/runtime.ts'
import type { FileKeeper } from '#core/uploads/kept-files/file-keeper.ts'
import type { AdmittedChat, CallEnding, Entered } from './conversation/enter-conversation.ts'
import type { PlatformReplyDeps } from './platform-reply.ts'
import type { ReplyContentDeps } from './reply-content.ts'
import type { UnroutedCall } from './request/call.ts'
import type { Route } from './routing/route.ts'

export interface AttemptDeps extends ReplyContentDeps, PlatformReplyDeps {
  readonly runtime: Runtime
  /** Enters the conversation of a call; the request is sent once this has resolved. */
  readonly enter: (chat: AdmittedChat, ending: CallEnding) => Entered | Promise<Entered>
  /** What keeps the files that the agent makes in a call. */
  readonly filesOf: FileKeeper['ofCall']
  /** The derived id of the conversation, for the trace of the call. */
  readonly conversationOf: (chat: AdmittedChat<UnroutedCall>) => string
}

/** What the attempts of a call have in common. */
export interface AttemptedCall {
  readonly chat: AdmittedChat<UnroutedCall>
  readonly route: Route
  /** When the call has begun, on the clock of `elapsedMs`. */
  readonly startedMs: number
}
