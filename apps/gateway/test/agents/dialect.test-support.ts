import type { ErrorKind, SeenRequest } from '@trunkline/sandbox'
import type { ErrorReason } from '#core/base/errors/errors.ts'

/** One dialect of a platform's emulator: how the gateway reaches it, and what the dialect supports. */
export interface Dialect {
  /** Also serves as the id of the agent. */
  readonly name: string
  readonly platform: string
  /** The name of the emulator's key that selects the dialect. */
  readonly key: string
  /** The properties of its configuration entry other than address and key. */
  readonly entry: Readonly<Record<string, unknown>>
  /** Returns the properties of an app in the entry. */
  readonly app: (apiKey: string) => Readonly<Record<string, unknown>>
  /** The `app_id` of its calls. */
  readonly appId: string
  /** How it receives files: as uploads, as URLs alone, or as URLs and `data:` URLs. */
  readonly takesFiles: 'uploads' | 'URLs' | 'data'
  /** Where the context of a conversation is kept. */
  readonly context: 'client' | 'platform' | 'gateway' | 'none'
  /** Returns the platform's conversation id from a request that the gateway sent. */
  conversationOf(request: SeenRequest): unknown
  /** Whether a second run in the same conversation is rejected. */
  readonly isExclusive: boolean
  /** Whether a run continues until a stop call ends it; otherwise it ends with its connection. */
  readonly hasStopCall: boolean
  readonly reportsUsage: boolean
  /** The finish reason that it reports for a truncated answer. */
  readonly cut: 'length' | 'stop'
  /** The types of the detail events in an ordinary reply of the emulator. */
  readonly details: readonly string[]
  readonly reasons: boolean
  /** Whether its runs consist of nodes that may fail. */
  readonly hasNodes: boolean
  /** The expected reason for a kind of error, where it differs from most platforms. */
  readonly refusals: Readonly<Partial<Record<ErrorKind, ErrorReason>>>
  /** The expected reason for a broken reply, where it differs from most platforms. */
  readonly breaks: Readonly<Record<string, ErrorReason>>
  /** The faults of a connection after which the run goes on, so that the gateway asks the platform for the rest. */
  readonly goesOn?: readonly string[]
  /** Matches the names of the recorded replies that belong to this dialect. */
  readonly transcripts: RegExp | undefined
  /** Another path at the emulator than the one the gateway asks for. */
  readonly rewrite?: readonly [from: string, to: string]
  /** The `Retry-After` of its emulator's rate limit, in seconds. */
  readonly retryAfter?: string
  /** A call without a conversation id is rejected. */
  readonly requiresConversation?: true
  /** A separate call creates a conversation; this transcript is its reply. */
  readonly createsConversation?: string
  readonly givesSeveralAnswers?: true
  /** A text may be replaced after it was sent. */
  readonly replacesText?: true
  /** The expected reason for a run that waits for the output of a tool. */
  readonly toolOutputWanted?: ErrorReason
  /** `nodeData: full` shows the data of nodes to clients. */
  readonly showsNodeData?: true
  /** A run may pause with a question. */
  readonly pauses?: true
  /** A reply without text is not an error. */
  readonly mayAnswerNothing?: true
  readonly ignoresVariables?: true
  /** It takes a conversation id that it does not know for a new conversation. */
  readonly takesAnyConversation?: true
}
