// Generated from the gateway's table of errors by `pnpm contract`. Do not edit.
/** The reasons that may be shown to a visitor, with OpenAI's class of the error. */
export const VISITOR_ERRORS: ReadonlyMap<string, string> = new Map([
  ['agent_rejected_input', 'invalid_request_error'],
  ['content_filtered', 'invalid_request_error'],
  ['answer_required', 'invalid_request_error'],
  ['conversation_busy', 'invalid_request_error'],
  ['pause_over', 'invalid_request_error'],
  ['rate_limited', 'rate_limit_error'],
  ['agent_rate_limited', 'rate_limit_error'],
  ['interrupted', 'server_error'],
  ['agent_timeout', 'server_error'],
  ['agent_unavailable', 'server_error'],
  ['agent_overloaded', 'server_error'],
  ['draining', 'server_error'],
  ['unavailable', 'server_error'],
])
