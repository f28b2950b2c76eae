/** What a client may rely on, whatever platform answers. A new adapter has to keep all of it to be registered. */
export interface Guarantee {
  readonly id: string
  readonly level: 'MUST' | 'SHOULD'
  readonly text: string
}

export const GUARANTEES = [
  must(
    'REPLY-01',
    'a JSON reply is a ChatReply, names the conversation as the client did and ends with stop',
  ),
  must('REPLY-02', 'a stream is ChatChunks of text, one line each, a last one with content null, and [DONE]'),
  must('REPLY-03', 'the OpenAI face gives completions and chunks of its schema, named after the call'),
  must('REPLY-04', 'JSON, stream and OpenAI face agree on text, finish reason and usage'),
  must('REPLY-05', 'any text arrives unchanged: line ends, NUL, lone surrogates, what looks like a stream'),
  must('REPLY-06', 'an answer that the platform cut ends with length where the platform says so'),
  must('REPLY-07', 'usage is what the platform reported, and absent where it did not'),
  must('REPLY-08', 'several answers of one run are joined by a blank line'),
  must('REPLY-09', 'a replaced text is the replacement alone, in a stream what was sent and the replacement'),
  must('REPLY-10', 'a reply that ends well without a text is agent_empty_reply, but for openai agents'),
  must('REPLY-11', 'listed files reach the platform by either face'),
  must('REPLY-12', 'variables reach the platform'),

  must('DETAIL-01', 'with detail the progress comes as typed DetailEvents, in JSON and in the stream'),
  must('DETAIL-02', 'without detail none of it comes'),
  must('DETAIL-03', 'prompts and what nodes made of them stay inside, unless nodeData is full'),
  must('DETAIL-04', 'reasoning reaches OpenAI clients only where the agent allows it'),
  must('PAUSE-01', 'an interactive pause shows question and options, and the next query resumes it'),

  must('TALK-01', 'a conversation remembers, and no turn is sent twice'),
  must('TALK-02', 'a conversation of the OpenAI face remembers, and no turn is sent twice'),
  must('TALK-03', 'without a conversation the OpenAI face carries the whole array'),
  must('TALK-04', 'a conversation goes on when files are listed'),
  must('TALK-05', 'an empty id starts a conversation that the reply names'),
  must('TALK-06', 'another end user, owner, agent or app has another conversation under the same id'),
  must('TALK-07', "the platform's own id opens a conversation to nobody"),
  must('TALK-08', 'first turns that race end in one conversation at the platform'),
  must('TALK-09', 'where the first turn fails, the one that waits for its conversation takes over'),
  must('TALK-10', 'a conversation that the platform lost is conversation_not_found and stays so'),
  must('TALK-11', 'a run that is going on in the conversation is conversation_busy'),

  must('END-01', 'a reply has exactly one end, and a stream that succeeded exactly one [DONE]'),
  must('END-02', 'headers wait a bounded time for the platform; after that a failure is a frame'),
  should('END-03', 'a silent stream is kept alive by comments'),

  must('FAIL-01', 'a refusal has the status and reason of its kind, on both faces, before any stream begins'),
  must('FAIL-02', "no failure tells credentials, addresses or the platform's own words"),
  should('FAIL-03', 'a rate limit tells the time to wait that the platform told'),
  must('FAIL-04', 'a JSON reply that breaks has the status and reason of what broke it'),
  must('FAIL-05', 'a stream that breaks ends with one error frame, without finish reason and [DONE]'),
  must('FAIL-06', 'an agent that nothing listens for is agent_unreachable and may be asked again'),
  must('FAIL-07', 'a run whose node failed is agent_error'),
  must('FAIL-08', 'a run that wants the output of a tool is agent_requires_action'),

  must('TIME-01', 'no first byte is agent_timeout'),
  must('TIME-02', 'heartbeats are no life: agent_timeout'),
  must('TIME-03', 'silence amid a reply is agent_timeout'),
  must('TIME-04', 'a reply that takes too long is agent_timeout'),

  must('WIRE-01', 'every recorded reply gives the status, text, finish reason and usage of the manifest'),
  must('WIRE-02', 'a recorded reply reads the same however its bytes are cut'),

  must('GONE-01', 'a client that leaves a stream has the run stopped within 100 ms'),
  must('GONE-02', 'a client that leaves before a JSON reply has the run stopped within 100 ms'),
  must('GONE-03', 'a client that leaves before the run has an id has it stopped within 100 ms of the id'),
  must('GONE-04', "a client that leaves has the platform's connection closed within 100 ms"),

  must('LEDGER-01', 'the ledger has each admitted call once'),
  must('LEDGER-02', 'a call is settled with the outcome and reason that its client was told'),
  must('LEDGER-03', "a call's tokens are those that its client was told, and none where they are unknown"),
  must('LEDGER-04', "a platform's refusal is written with the HTTP status that it came with, 200 included"),
] as const satisfies readonly Guarantee[]

export type GuaranteeId = (typeof GUARANTEES)[number]['id']

function must<const Id extends string>(id: Id, text: string) {
  return { id, level: 'MUST', text } as const
}

function should<const Id extends string>(id: Id, text: string) {
  return { id, level: 'SHOULD', text } as const
}
