import { InvalidResponseError } from '../errors.ts'
import type { ChatChunk, ChatReply, DetailEvent } from '../generated/wire.ts'
import { textIn } from '../text-in.ts'

/** What a gateway sends at most as the text of one stream. An endless stream of another server is not held any further. */
const HELD_LENGTH_MAX = 32 * 1024 * 1024
/** Fragments that are joined at a time: each by itself would cost several times its length. */
const FRAGMENTS_MAX = 1024

/** Makes of the chunks of a stream the reply that the gateway gives without streaming. */
export class ReplyCollector {
  readonly #wantsDetail: boolean
  readonly #details: DetailEvent[] = []
  #last: ChatChunk | undefined
  #usage: ChatChunk['usage']
  #finishReason: ChatReply['choices'][number]['finish_reason'] = 'stop'
  #text = ''
  #fragments: string[] = []
  #heldLength = 0

  constructor({ wantsDetail }: { wantsDetail: boolean }) {
    this.#wantsDetail = wantsDetail
  }

  add(chunk: ChatChunk): void {
    this.#last = chunk
    this.#usage = chunk.usage ?? this.#usage
    const choice = chunk.choices[0]
    if (choice?.finish_reason) this.#finishReason = choice.finish_reason
    const text = choice?.delta?.content ?? ''
    if (this.#canHold(text.length) && this.#fragments.push(text) >= FRAGMENTS_MAX) {
      this.#text += this.#fragments.join('')
      this.#fragments = []
    }
    if (chunk.detail !== undefined) this.#addDetail(chunk.detail)
  }

  /** @throws InvalidResponseError if there was more than can be held */
  get text(): string {
    if (this.#heldLength > HELD_LENGTH_MAX) {
      throw new InvalidResponseError('The reply is too long to be held; read it chunk by chunk.')
    }
    return this.#text + this.#fragments.join('')
  }

  /** @throws InvalidResponseError if there was more than can be held */
  get reply(): ChatReply {
    const { id = '', created = 0, model = '' } = this.#last ?? {}
    return {
      ...{ id, object: 'chat.completion', created, model },
      ...(this.#usage !== undefined && { usage: this.#usage }),
      choices: [
        { index: 0, message: { role: 'assistant', content: this.text }, finish_reason: this.#finishReason },
      ],
      ...(this.#wantsDetail && { detail: [...this.#details] }),
    }
  }

  #addDetail(detail: DetailEvent): void {
    if (!this.#canHold(JSON.stringify(detail).length)) return
    const text = textIn(detail.data, 'text')
    if (detail.type === 'replaced' && text !== undefined) {
      // A stream cannot take back what it has sent and repeats the text as a paragraph; the reply is the replacement alone.
      this.#text = text
      this.#fragments = []
    }
    const last = this.#details.at(-1)
    const before = textIn(last?.data, 'text')
    const isReasoning = detail.type === 'reasoning' && last?.type === 'reasoning'
    // Reasoning is streamed in fragments too, which the reply joins.
    if (isReasoning && before !== undefined && text !== undefined) {
      this.#details[this.#details.length - 1] = { ...detail, data: { text: before + text } }
    } else this.#details.push(detail)
  }

  #canHold(length: number): boolean {
    this.#heldLength += length
    return this.#heldLength <= HELD_LENGTH_MAX
  }
}
