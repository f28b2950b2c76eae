import { InvalidResponseError } from '../errors.ts'
import type { ChatChunk, ChatReply, DetailEvent, Pause } from '../generated/wire.ts'

/** What a gateway sends at most as the text of one stream. An endless stream of another server is not held any further. */
const HELD_LENGTH_MAX = 32 * 1024 * 1024
/** Fragments that are joined at a time: each by itself would cost several times its length. */
const FRAGMENTS_MAX = 1024

/** Makes of the chunks of a stream the reply that the gateway gives without streaming. */
export interface ReplyCollector {
  /** @throws TypeError if the chunk is none of a chat, which a server that is no gateway may send */
  add(chunk: ChatChunk): void
  /** @throws InvalidResponseError if there was more than can be held */
  text(): string
  /** @throws InvalidResponseError if there was more than can be held */
  reply(): ChatReply
  pause(): Pause | undefined
}

export function replyCollector(wantsDetail: boolean | undefined): ReplyCollector {
  const details: DetailEvent[] = []
  let head: Partial<ChatChunk> = {}
  let usage: ChatChunk['usage']
  let pause: Pause | undefined
  let files: ChatReply['files']
  let finish_reason: ChatReply['choices'][number]['finish_reason'] = 'stop'
  let joined = ''
  let fragments: string[] = []
  let heldLength = 0

  function canHold(length: number): boolean {
    heldLength += length
    return heldLength <= HELD_LENGTH_MAX
  }

  function text(): string {
    if (!canHold(0)) throw new InvalidResponseError('The reply is too long.')
    return joined + fragments.join('')
  }

  function addDetail(detail: DetailEvent): void {
    if (!canHold(JSON.stringify(detail).length)) return
    if (detail.type === 'replaced') {
      // A stream cannot take back what it has sent and repeats the text as a paragraph; the reply is the replacement alone.
      joined = detail.data.text
      fragments = []
    }
    const last = details.at(-1)
    if (detail.type === 'reasoning' && last?.type === 'reasoning') {
      // Reasoning is streamed in fragments too, which the reply joins.
      details.splice(-1, 1, { ...detail, data: { text: last.data.text + detail.data.text } })
    } else details.push(detail)
  }

  return {
    add(chunk) {
      const choice = chunk.choices[0]
      const content: unknown = choice?.delta?.content ?? ''
      if (typeof content !== 'string') throw new TypeError('No text.')
      head = chunk
      usage = chunk.usage ?? usage
      pause = chunk.pause ?? pause
      files = chunk.files ?? files
      finish_reason = choice?.finish_reason || finish_reason
      if (canHold(content.length) && fragments.push(content) >= FRAGMENTS_MAX) {
        joined += fragments.join('')
        fragments = []
      }
      if (chunk.detail) addDetail(chunk.detail)
    },
    text,
    reply() {
      const { id = '', created = 0, model = '' } = head
      return {
        id,
        object: 'chat.completion',
        created,
        model,
        ...(usage && { usage }),
        choices: [{ index: 0, message: { role: 'assistant', content: text() }, finish_reason }],
        ...(pause && { pause }),
        ...(files && { files }),
        ...((wantsDetail ?? details[0]) && { detail: details }),
      }
    },
    pause: () => pause,
  }
}
