import type { FinishReason } from '#core/agents/events.ts'

/** Why a reply ended, and what each word means. */
export const FINISH_REASONS = {
  stop: 'The reply is complete.',
  length: "The platform cut the reply at a length limit, such as the model's limit of tokens.",
  content_filter: 'The platform cut the reply for its content.',
  tool_calls: 'The model asks for the output of tools.',
} as const satisfies Record<FinishReason, string>

/** The comment that a stream carries while the platform says nothing. */
export const KEEP_ALIVE = ': keep-alive'

export const KEEP_ALIVE_DESCRIPTION = `After every 15 s of silence (the default of \`chat.keepAliveMs\`) a stream carries the comment \`${KEEP_ALIVE}\` and a blank line; readers of server-sent events skip lines that begin with a colon.`
