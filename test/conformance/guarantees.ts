/** What clients may rely on with every platform. A new adapter must meet all guarantees before it is registered. */
export interface Guarantee {
  readonly id: string
  readonly level: 'MUST' | 'SHOULD'
  readonly text: string
}

export const GUARANTEES = [
  must(
    'REPLY-01',
    'a JSON reply is a ChatReply, repeats the conversation id of the client and ends with stop',
  ),
  must(
    'REPLY-02',
    'a stream consists of ChatChunks of text, one line each, a last one with content null, and [DONE]',
  ),
  must(
    'REPLY-03',
    'the OpenAI interface returns completions and chunks of its schema, with the call as their id',
  ),
  must('REPLY-04', 'JSON, stream and OpenAI interface agree on text, finish reason and usage'),
  must(
    'REPLY-05',
    'any text arrives unchanged but for lone surrogates, which are U+FFFD: line ends, NUL, text that looks like a stream',
  ),
  must('REPLY-06', 'an answer that the platform truncated ends with length if the platform reports it'),
  must('REPLY-07', 'usage is what the platform reported, and absent if it reported none'),
  must('REPLY-08', 'several answers of one run are joined by a blank line'),
  must(
    'REPLY-09',
    'a replaced text is the replacement alone; a stream has the text sent so far and the replacement',
  ),
  must('REPLY-10', 'a completed reply without text is agent_empty_reply, except for openai agents'),
  must('REPLY-11', 'listed files reach the platform through both interfaces, also without a text'),
  must('REPLY-12', 'variables reach the platform'),

  must('FILES-01', 'an uploaded file reaches the platform whole, through both interfaces'),
  must(
    'FILES-02',
    "another user's file is upload_not_found through both interfaces, and nothing reaches the platform",
  ),
  must('FILES-03', 'a platform that takes uploads gets a file once for each end user'),
  must(
    'FILES-04',
    'a file within a request reaches platforms that take uploads or data, and for others the error names its field',
  ),

  must('DETAIL-01', 'with detail, progress is sent as typed DetailEvents, in JSON and in the stream'),
  must('DETAIL-02', 'without detail, no DetailEvents are sent'),
  must('DETAIL-03', 'prompts and the output of nodes are not sent to clients, unless nodeData is full'),
  must('DETAIL-04', 'reasoning reaches OpenAI clients only if the agent allows it'),
  must('PAUSE-01', 'an interactive pause sends question and options, and the next query resumes the run'),

  must('TALK-01', 'a conversation keeps its turns, and no turn is sent to the platform twice'),
  must(
    'TALK-02',
    'a conversation of the OpenAI interface keeps its turns, and no turn is sent to the platform twice',
  ),
  must(
    'TALK-03',
    'without a conversation, and in one without a turn, the OpenAI interface sends all messages, then the last one',
  ),
  must('TALK-04', 'a conversation continues when files are listed'),
  must('TALK-05', 'an empty id starts a conversation whose id the reply contains'),
  must('TALK-06', 'another end user, owner, agent or app has another conversation under the same id'),
  must('TALK-07', "the platform's own id of a conversation gives no access to it"),
  must('TALK-08', 'concurrent first turns share one conversation at the platform'),
  must('TALK-09', 'if the first turn fails, a turn that waits for its conversation creates the conversation'),
  must('TALK-10', 'a conversation that the platform lost is conversation_not_found and stays so'),
  must('TALK-11', 'a call while the platform is busy with the conversation is conversation_busy'),

  must('END-01', 'a reply has exactly one end, and a stream that succeeded exactly one [DONE]'),
  must('END-02', 'headers wait a limited time for the platform; after that, a failure is sent as a frame'),
  should('END-03', 'a silent stream is kept alive by comments'),

  must(
    'FAIL-01',
    'a rejection by the platform has the status and reason of its kind, in both interfaces, before a stream begins',
  ),
  must('FAIL-02', "no failure discloses credentials, addresses or the platform's own messages"),
  should('FAIL-03', 'a rate limit reports the waiting time of the platform'),
  must('FAIL-04', 'a JSON reply that fails midway has the status and reason of the failure'),
  must('FAIL-05', 'a stream that fails midway ends with one error frame, without finish reason and [DONE]'),
  must('FAIL-06', 'a refused connection to the agent is agent_unreachable, and the call may be retried'),
  must('FAIL-07', 'a run with a failed node is agent_error'),
  must('FAIL-08', 'a run that waits for the output of a tool is agent_requires_action'),

  must('TIME-01', 'a missing first byte is agent_timeout'),
  must('TIME-02', 'heartbeats alone do not prevent agent_timeout'),
  must('TIME-03', 'silence amid a reply is agent_timeout'),
  must('TIME-04', 'a reply that takes too long is agent_timeout'),

  must('WIRE-01', 'every recorded reply yields the status, text, finish reason and usage of the manifest'),
  must('WIRE-02', 'a recorded reply yields the same result however its bytes are split'),
  must('WIRE-03', 'a recorded reply yields the same result if it is compressed'),

  must(
    'MEANS-01',
    'an end for which the platform has a bad word, or that somebody else has brought about, is a failure',
  ),
  must(
    'MEANS-02',
    'an answer that goes on after a reported end is read to its next end, however slowly it goes on',
  ),
  must(
    'MEANS-03',
    'a connection that breaks after the end of an answer is no failure, and amid an answer it is one',
  ),
  must('MEANS-04', 'a text is well-formed in each piece, although the platform cuts it within a character'),
  must('MEANS-05', 'an answer is read in each shape and with each name for tokens that servers use'),
  must('MEANS-06', 'a reply of which nothing could be read is no success'),
  must(
    'MEANS-07',
    'tool calls reach OpenAI clients with an index, an id and arguments as text, however they were sent',
  ),
  must(
    'MEANS-08',
    'what stands between tags at the beginning of a text is reasoning where the agent says so',
  ),

  must('GONE-01', 'when a client closes a stream, the run is stopped within 100 ms'),
  must('GONE-02', 'when a client disconnects before a JSON reply, the run is stopped within 100 ms'),
  must(
    'GONE-03',
    'when a client disconnects before the run has an id, the run is stopped within 100 ms of the id',
  ),
  must('GONE-04', 'when a client disconnects, the connection to the platform is closed within 100 ms'),

  must('LEDGER-01', 'the ledger contains each admitted call once'),
  must('LEDGER-02', 'a call is settled with the outcome and reason that its client received'),
  must('LEDGER-03', "a call's tokens are those that its client received, and null if they are unknown"),
  must('LEDGER-04', 'a rejection by the platform is recorded with its HTTP status, even if that is 200'),
] as const satisfies readonly Guarantee[]

export type GuaranteeId = (typeof GUARANTEES)[number]['id']

function must<const Id extends string>(id: Id, text: string) {
  return { id, level: 'MUST', text } as const
}

function should<const Id extends string>(id: Id, text: string) {
  return { id, level: 'SHOULD', text } as const
}
