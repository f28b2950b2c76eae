import type { ErrorKind, SeenRequest } from '@trunkline/sandbox'
import type { ErrorReason } from '#core/errors.ts'

/**
 * One dialect of a platform as its emulator speaks it: how the gateway reaches it, and what it can and cannot
 * do.
 */
export interface Dialect {
  /** Also the id of its agent. */
  readonly name: string
  readonly platform: string
  /** Which of the emulator's keys opens the dialect. */
  readonly key: string
  /** What its entry of the configuration has beside address and key. */
  readonly entry: Readonly<Record<string, unknown>>
  /** What an app needs that the entry may list. */
  readonly app: (apiKey: string) => Readonly<Record<string, unknown>>
  /** The `app_id` of its calls. */
  readonly appId: string
  /** Who keeps the context of a conversation. */
  readonly context: 'client' | 'platform' | 'gateway' | 'none'
  /** The conversation that a request of the gateway names at the platform. */
  conversationOf(request: SeenRequest): unknown
  /** One run at a time in a conversation: others are refused. */
  readonly isExclusive: boolean
  /** Whether a run goes on until a stop call ends it; else it ends with its connection. */
  readonly hasStopCall: boolean
  readonly reportsUsage: boolean
  /** How it tells that its answer was cut. */
  readonly cut: 'length' | 'stop'
  /** The progress that an ordinary reply of the emulator comes with. */
  readonly details: readonly string[]
  readonly reasons: boolean
  /** Its runs are made of nodes, of which one may fail. */
  readonly hasNodes: boolean
  /** What a kind of refusal comes to, where the platform says it otherwise than most. */
  readonly refusals: Readonly<Partial<Record<ErrorKind, ErrorReason>>>
  /** The same of a broken reply. */
  readonly breaks: Readonly<Record<string, ErrorReason>>
  /** The recorded replies that are its own. */
  readonly transcripts: RegExp | undefined
  /** Another path at the emulator than the one the gateway asks for. */
  readonly rewrite?: readonly [from: string, to: string]
  /** The `Retry-After` of its emulator's rate limit, in seconds. */
  readonly retryAfter?: string
  /** A call without a conversation is refused. */
  readonly requiresConversation?: true
  /** A call of its own makes a conversation; afterwards this transcript is replayed. */
  readonly createsConversation?: string
  readonly givesSeveralAnswers?: true
  /** A text may be replaced after it was sent. */
  readonly replacesText?: true
  /** What a run comes to that waits for the output of a tool. */
  readonly toolOutputWanted?: ErrorReason
  /** `nodeData: full` lets the data of nodes out. */
  readonly showsNodeData?: true
  /** A run may pause with a question. */
  readonly pauses?: true
  /** A reply without text is none that failed. */
  readonly mayAnswerNothing?: true
  readonly ignoresVariables?: true
}
