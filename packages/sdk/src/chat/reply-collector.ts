import { InvalidResponseError } from '../errors.ts'
import type { ChatChunk, ChatReply, DetailEvent } from '../generated/wire.ts'
import { textIn } from '../transport/text-in.ts'

/** What a gateway sends at most as the text of one stream. An endless stream of another server is not held any further. */
const HELD_LENGTH_MAX = 32 * 1024 * 1024
/** Fragments that are joined at a time: each by itself would cost several times its length. */
const FRAGMENTS_MAX = 1024

/** Makes of the chunks of a stream the reply that the gateway gives without streaming. */
export interface ReplyCollector {
  add(chunk: ChatChunk): void
  /** @throws InvalidResponseError if there was more than can be held */
  text(): string
  /** @throws InvalidResponseError if there was more than can be held */
  reply(): ChatReply
}

export function replyCollector(wantsDetail: boolean): ReplyCollector {
  const details: DetailEvent[] = []
  let head: Partial<ChatChunk> = {}
  let usage: ChatChunk['usage']
  let finish_reason: ChatReply['choices'][number]['finish_reason'] = 'stop'
  let joined = ''
  let fragments: string[] = []
  let heldLength = 0

  function canHold(length: number): boolean {
    heldLength += length
    return heldLength <= HELD_LENGTH_MAX
  }

  function text(): string {
    if (heldLength > HELD_LENGTH_MAX) {
      throw new InvalidResponseError('The reply is too long to be held.')
    }
    return joined + fragments.join('')
  }

  function addDetail(detail: DetailEvent): void {
    if (!canHold(JSON.stringify(detail).length)) return
    const own = textIn(detail.data, 'text')
    if (detail.type === 'replaced' && own !== undefined) {
      // A stream cannot take back what it has sent and repeats the text as a paragraph; the reply is the replacement alone.
      joined = own
      fragments = []
    }
    const last = details.at(-1)
    const before = textIn(last?.data, 'text')
    const isReasoning = detail.type === 'reasoning' && last?.type === 'reasoning'
    // Reasoning is streamed in fragments too, which the reply joins.
    if (isReasoning && before !== undefined && own !== undefined) {
      details.splice(-1, 1, { ...detail, data: { text: before + own } })
    } else details.push(detail)
  }

  return {
    add(chunk) {
      head = chunk
      usage = chunk.usage ?? usage
      const choice = chunk.choices[0]
      finish_reason = choice?.finish_reason || finish_reason
      const fragment = choice?.delta?.content ?? ''
      if (canHold(fragment.length) && fragments.push(fragment) >= FRAGMENTS_MAX) {
        joined += fragments.join('')
        fragments = []
      }
      if (chunk.detail !== undefined) addDetail(chunk.detail)
    },
    text,
    reply() {
      const { id = '', created = 0, model = '' } = head
      return {
        id,
        object: 'chat.completion',
        created,
        model,
        ...(usage !== undefined && { usage }),
        choices: [{ index: 0, message: { role: 'assistant', content: text() }, finish_reason }],
        ...(wantsDetail && { detail: details }),
      }
    },
  }
}
