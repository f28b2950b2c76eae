import type { WakeUpKind } from './wake-ups.ts'

/**
 * A message is a letter for its kind, the sender, and the ids of calls as base64url of their 16 bytes, without separators. Other
 * versions may send other messages, which are ignored.
 */
const LETTERS = { log: 'l', stop: 's' } as const satisfies Record<WakeUpKind, string>
const KINDS = new Map<string, WakeUpKind>(
  Object.entries(LETTERS).map(([kind, letter]) => [letter, kind as WakeUpKind]),
)

/** The characters of an id in a message. */
const ID_LENGTH = 22
/** The characters of a sender. */
const SENDER_LENGTH = 8
const HEAD_LENGTH = 1 + SENDER_LENGTH

/** The bytes from which a {@link senderOf | sender} is made. */
export const SENDER_BYTES = 6

export interface Message {
  readonly kind: WakeUpKind
  readonly sender: string
  /** The ids in their short form, see {@link shortId}. */
  readonly ids: readonly string[]
}

/** The form that an id has in messages. Ids are compared in it, so that nothing is converted when a message arrives. */
export function shortId(callId: string): string {
  return Buffer.from(callId.replaceAll('-', ''), 'hex').toString('base64url')
}

/** The name under which a process sends, so that it recognizes its own messages. */
export function senderOf(bytes: Buffer): string {
  return bytes.toString('base64url')
}

/** Writes as few messages as possible. */
export function writeMessages({ kind, sender, ids }: Message, idsPerMessage: number): string[] {
  const messages: string[] = []
  for (let at = 0; at < ids.length; at += idsPerMessage)
    messages.push(LETTERS[kind] + sender + ids.slice(at, at + idsPerMessage).join(''))
  return messages
}

/** Returns undefined for what this version does not send. */
export function readMessage(text: string): Message | undefined {
  const kind = KINDS.get(text.charAt(0))
  if (kind === undefined) return undefined
  if (text.length < HEAD_LENGTH || (text.length - HEAD_LENGTH) % ID_LENGTH !== 0) return undefined
  const ids: string[] = []
  for (let at = HEAD_LENGTH; at < text.length; at += ID_LENGTH) ids.push(text.slice(at, at + ID_LENGTH))
  return { kind, sender: text.slice(1, HEAD_LENGTH), ids }
}

/** A message by which a process tests whether its own messages arrive. */
export function testMessage(bytes: Buffer): string {
  return `t${bytes.toString('base64url')}`
}
