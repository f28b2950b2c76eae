/** What is known of an admitted call from its beginning. */
export interface ChatHead {
  readonly callId: string
  /** The id by which the client can continue the conversation. */
  readonly conversationId: string
  /** The model name until the platform reports its own. */
  readonly model: string
  /** Whether the agent is configured to expose its reasoning. */
  readonly reasoning: boolean
  /** Whether the agent gets the parameters of the request, such as its tools. */
  readonly takesParameters: boolean
  /** The kinds of the request's tools, where the agent is configured to ignore them. */
  readonly ignoredTools: readonly string[]
  /** Whether the agent gets all messages of the request, its instructions included. */
  readonly takesMessages: boolean
  /** The end user of the call; empty if it has none. */
  readonly endUser: string
  /** Seconds since the epoch. */
  readonly created: number
}
