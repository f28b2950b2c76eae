import type { ChatChunk } from '../generated/wire.ts'
import { textIn } from '../transport/text-in.ts'
import type { VisitorError } from './visitor-error.ts'

/** The form in which a stream is passed on: what is written for each thing that happens. */
export interface PassedOnForm {
  /** What is written where the gateway says that the agent is still at work. */
  readonly comment: string
  begin(): readonly string[]
  chunk(chunk: ChatChunk): readonly string[]
  end(): readonly string[]
  /** Undefined where the form has no word for a failure, so that only breaking the stream can tell of it. */
  failure(error: VisitorError): readonly string[] | undefined
}

/** As the gateway sends it, and OpenAI's clients read it. */
export const CHAT_STREAM_FORM: PassedOnForm = {
  comment: ': keep-alive\n\n',
  begin: () => [],
  chunk: (chunk) => [`data: ${JSON.stringify(chunk)}\n\n`],
  end: () => ['data: [DONE]\n\n'],
  failure: (error) => [`data: ${JSON.stringify(error)}\n\n`],
}

/** The text alone. */
export const TEXT_FORM: PassedOnForm = {
  comment: '',
  begin: () => [],
  chunk(chunk) {
    const text = textIn(Object(chunk?.choices)[0]?.delta, 'content')
    return text ? [text] : []
  },
  end: () => [],
  failure: () => undefined,
}
