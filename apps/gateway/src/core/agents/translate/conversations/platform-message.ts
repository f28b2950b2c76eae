import type { Agent, PlatformMessage } from '#core/agents/adapter.ts'
import type { ChatEvent } from '#core/agents/events.ts'
import { endOfText, paragraphBreak } from '#core/agents/made-file.ts'
import { textOfPause } from '#core/agents/pause.ts'
import { platformIdOf } from '#core/agents/translate/platform-id.ts'
import { ThinkTags } from '#core/agents/translate/replies/think-tags.ts'
import { WellFormedText } from '#core/agents/translate/replies/well-formed-text.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'

/** A message as a platform has it, of which nothing has been checked. */
interface Kept {
  readonly id: unknown
  readonly role: PlatformMessage['role']
  /** What it says, as the events that a reply with the same content has. */
  readonly said: readonly ChatEvent[]
  /** Unix time in seconds or milliseconds, also as a text, or a date in ISO 8601. */
  readonly createdAt?: unknown
  readonly answerId?: unknown
  readonly rating?: PlatformMessage['rating'] | undefined
}

/** As many as are offered of one reply. */
const FILES_MAX = 20

/**
 * Makes a message for clients, whose text is cleaned as that of a reply is: without reasoning and half characters.
 *
 * @returns nothing for a message that has no id, or that says nothing
 */
export function platformMessage(
  { thinkTags }: Pick<Agent, 'thinkTags'>,
  { id, role, said, createdAt, answerId, rating }: Kept,
): readonly PlatformMessage[] {
  const messageId = platformIdOf(id)
  const { text, files } = contentOf(said, thinkTags && role === 'assistant')
  if (messageId === undefined || (text === '' && files.length === 0)) return []
  const known = { createdAt: dateOf(createdAt), answerId: platformIdOf(answerId), rating }
  return [{ id: messageId, role, text, files, ...omitUndefined(known) }]
}

function contentOf(said: readonly ChatEvent[], hasTags: boolean): Pick<PlatformMessage, 'text' | 'files'> {
  const texts = new WellFormedText()
  const tags = hasTags ? new ThinkTags() : undefined
  const whole = [...said.flatMap((event) => texts.take(event)), ...texts.end()]
  const events = tags === undefined ? whole : [...whole.flatMap((event) => tags.take(event)), ...tags.end()]
  let text = ''
  let end = ''
  const add = (piece: string) => {
    text += piece
    end = endOfText(end, piece)
  }
  const files: PlatformMessage['files'][number][] = []
  for (const event of events) {
    if (event.type === 'text') add(event.text)
    else if (event.type === 'replace') {
      text = ''
      end = ''
      add(event.text)
    } else if (event.type === 'pause') {
      const asked = textOfPause(event.pause)
      add(paragraphBreak(end, asked) + asked)
    } else if (event.type === 'file') files.push(...fileOf(event.file))
  }
  return { text, files: files.slice(0, FILES_MAX) }
}

/** Not those whose URL is their content, which would make a page of any size. */
function fileOf({ url, name }: { readonly url?: string; readonly name?: string }): PlatformMessage['files'] {
  if (url === undefined || /^data:/i.test(url)) return []
  return [{ url: url.toWellFormed(), ...(name !== undefined && { name: name.toWellFormed() }) }]
}

/** Later ones are milliseconds. */
const SECONDS_MAX = 100_000_000_000
/** The last moment that has a year of four digits. */
const MILLISECONDS_MAX = 253_402_300_799_999

function dateOf(value: unknown): Date | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const told = Number(value)
  const time = Number.isNaN(told) ? Date.parse(String(value)) : told * (told < SECONDS_MAX ? 1_000 : 1)
  return time > 0 && time <= MILLISECONDS_MAX ? new Date(time) : undefined
}
