import pLimit from 'p-limit'
import { validate } from 'uuid'
import type { PlatformHistory, PlatformMessage, Rating } from '#core/agents/adapter.ts'
import { fail, Problem, refuseField } from '#core/base/errors/errors.ts'
import { keptText } from '#core/calls/conversation/conversations.ts'
import type { Sql } from '#core/database/database.ts'
import { CALL_OF_CONVERSATION } from '#core/ledger/listed-conversations-sql.ts'
import { shownName } from '#core/uploads/content/file-name.ts'
import { clientFileUrl } from '#core/uploads/kept-files/resolve-file-url.ts'
import type { AtPlatform, Place } from './at-platform.ts'
import type { Conversation } from './conversation-rows.ts'

/** A message of a conversation, as its platform has it, or the gateway where the platform keeps none. */
export interface ConversationMessage {
  /** Unique within its conversation. */
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly text: string
  readonly files: readonly { readonly url: string; readonly name?: string }[]
  readonly createdAt: Date | null
  /** The call whose answer it is, where that is known. */
  readonly callId: string | null
  /** What the user thinks of the answer; null if it was not rated. */
  readonly rating: Rating | null
}

export interface History {
  /** In the order in which they were said. */
  readonly items: readonly ConversationMessage[]
  /** Names the page before this one; null at the beginning. */
  readonly before: string | null
  /** Whether nothing of the conversation has been dropped, as far as is known. */
  readonly isComplete: boolean
}

export interface HistoryPage {
  /** 1 to {@link HISTORY_ITEMS_MAX}. */
  readonly limit: number
  readonly before?: string | undefined
}

export const HISTORY_ITEMS_MAX = 100
export const HISTORY_ITEMS_DEFAULT = 20
export const BEFORE_LENGTH_MAX = 512

/** Requests at once for a platform that keeps the messages by turn. */
const TURNS_AT_ONCE = 4

export interface HistoryDeps {
  readonly sql: Sql
  readonly atPlatform: AtPlatform
}

/** @throws Problem `invalid_request` */
export function checkHistoryPage({ limit, before }: HistoryPage): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > HISTORY_ITEMS_MAX)
    refuseField(['limit'], `expected a whole number from 1 to ${HISTORY_ITEMS_MAX}.`)
  if (before === undefined) return
  if (before === '' || before.length > BEFORE_LENGTH_MAX || /[\p{Cc}\p{Cs}]/u.test(before)) refuseBefore()
}

function refuseBefore(): never {
  refuseField(['before'], 'expected `before` of the page after it.')
}

/**
 * Reads a page of the messages of a conversation, the newest page first. Nothing of it is stored.
 *
 * @throws Problem `not_supported_by_agent`, and those of {@link AtPlatform.ask}
 */
export async function readHistory(
  deps: HistoryDeps,
  conversation: Conversation,
  page: HistoryPage,
  signal?: AbortSignal,
): Promise<History> {
  const { agent, stored, place } = await deps.atPlatform.find(conversation)
  if (agent.context === 'gateway') return readKeptTurns(deps.sql, conversation, stored.key, page)
  const calls = place?.calls ?? agent.adapter.conversations?.(agent)
  if (calls?.history === undefined && calls?.turn === undefined)
    fail(
      'not_supported_by_agent',
      `The platform of ${agent.id} does not show the messages of a conversation.`,
    )
  // Its first call has not got so far as to create it.
  if (place === undefined) return { items: [], before: null, isComplete: true }
  if (place.calls.turn !== undefined) return readTurns(deps, conversation, place, page, signal)
  const { history } = place.calls
  if (history === undefined) throw new Error('a platform without a history')
  const ask = (limit: number, cursor: string | undefined) => {
    const asked = { limit, ...(cursor !== undefined && { before: cursor }) }
    return deps.atPlatform.ask(place, history(place.conversation, asked), signal)
  }
  const read = await readBefore(page, ask)
  const answers = await readAnswers(deps.sql, conversation, read.items)
  return {
    items: read.items.map((message) => messageOf(place, message, answers)),
    before: read.before ?? null,
    isComplete: true,
  }
}

/** Begins a page of the platform, by the platform's cursor. */
const AT = 'at:'
/** Begins a cursor that also names the message of that page before which the next page ends. */
const WITHIN = 'in:'
/** So many pages of the platform are read for one of ours. */
const PAGES_MAX = 10

/** Where a page ends: before a message, which is searched for from a page of the platform on. */
interface PageEnd {
  readonly cursor: string | undefined
  readonly message: string | undefined
}

function pageEnd(before: string | undefined): PageEnd {
  if (before === undefined) return { cursor: undefined, message: undefined }
  if (before.startsWith(AT)) return { cursor: before.slice(AT.length), message: undefined }
  if (!before.startsWith(WITHIN)) return { cursor: undefined, message: before }
  const [cursor = '', message = ''] = before.slice(WITHIN.length).split(':').map(decoded)
  return { cursor: cursor || undefined, message }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return refuseBefore()
  }
}

/** Exactly as many messages as are asked for, if there are as many: platforms that count turns give more or fewer. */
async function readBefore(
  { limit, before }: HistoryPage,
  ask: (limit: number, cursor: string | undefined) => Promise<PlatformHistory>,
): Promise<PlatformHistory> {
  let { cursor, message } = pageEnd(before)
  let items: readonly PlatformMessage[] = []
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = await ask(message === undefined ? limit - items.length : HISTORY_ITEMS_MAX, cursor)
    const end = message === undefined ? page.items.length : page.items.findIndex(({ id }) => id === message)
    if (end >= 0) {
      message = undefined
      items = [...page.items.slice(0, end), ...items]
      const shown = items.slice(-limit)
      if (shown[0] !== undefined && items.length > limit) {
        const place = [cursor ?? '', shown[0].id].map(encodeURIComponent).join(':')
        return { items: shown, before: WITHIN + place }
      }
    }
    cursor = page.before
    if (cursor === undefined || items.length === limit) break
  }
  if (message !== undefined) return refuseBefore()
  return { items, ...(cursor !== undefined && { before: AT + cursor }) }
}

interface Answer {
  readonly callId: string
  readonly rating: Rating | null
}

function messageOf(
  { agent }: Place,
  { id, role, text, files, createdAt, answerId, rating }: PlatformMessage,
  answers: ReadonlyMap<string, Answer>,
): ConversationMessage {
  const answer = answerId === undefined || role === 'user' ? undefined : answers.get(answerId)
  return {
    id,
    role,
    text,
    files: files.flatMap(({ url, name }) => {
      const shown = clientFileUrl(url, agent)
      return shown === undefined ? [] : { url: shown, ...(name !== undefined && { name: shownName(name) }) }
    }),
    createdAt: createdAt ?? null,
    callId: answer?.callId ?? null,
    rating: answer?.rating ?? (role === 'assistant' ? (rating ?? null) : null),
  }
}

/** The calls that have given these answers, by the platform's ids. */
async function readAnswers(
  sql: Sql,
  conversation: Conversation,
  messages: readonly PlatformMessage[],
): Promise<ReadonlyMap<string, Answer>> {
  const ids = [...new Set(messages.flatMap(({ answerId }) => answerId ?? []))]
  if (ids.length === 0) return new Map()
  const rows = await sql.query<AnswerRow>(ANSWERS, [...nameOf(conversation), JSON.stringify(ids)])
  return new Map(rows.map((row) => [row.answer_id, { callId: row.id, rating: row.rating }]))
}

/** The turns that the gateway keeps for an agent without memory. */
async function readKeptTurns(
  sql: Sql,
  conversation: Conversation,
  key: string,
  { limit, before }: HistoryPage,
): Promise<History> {
  const last = before === undefined ? undefined : placeIn(before)
  // One turn more than could be shown, and one of which only the answer has been shown.
  const rows = await sql.query<TurnRow>(KEPT_TURNS, [key, last?.callId ?? null, Math.ceil(limit / 2) + 2])
  const [counts] = await sql.query<{ kept: number; answered: number }>(COUNTS, [key, ...nameOf(conversation)])
  const items = rows.reverse().flatMap((row) => [
    { ...USER, id: `${row.id}.0`, text: keptText(row.question, row.is_escaped), createdAt: row.created_at },
    {
      ...USER,
      role: 'assistant' as const,
      id: `${row.id}.1`,
      text: keptText(row.answer, row.is_escaped),
      createdAt: row.created_at,
      callId: row.id,
      rating: row.rating,
    },
  ])
  const end = before === undefined ? items.length : items.findIndex(({ id }) => id === before)
  return cut(end < 0 ? items : items.slice(0, end), limit, (counts?.kept ?? 0) >= (counts?.answered ?? 0))
}

const USER = { role: 'user', files: [], callId: null, rating: null } as const

/** The messages of a platform that keeps them by turn, by the ids of the answers that the ledger has. */
async function readTurns(
  { sql, atPlatform }: HistoryDeps,
  conversation: Conversation,
  place: Place,
  { limit, before }: HistoryPage,
  signal: AbortSignal | undefined,
): Promise<History> {
  const { turn } = place.calls
  if (turn === undefined) throw new Error('a platform without turns')
  const last = before === undefined ? undefined : placeIn(before)
  const rows = await sql.query<AnswerRow>(ANSWERED, [
    ...nameOf(conversation),
    last?.callId ?? null,
    Math.ceil(limit / 2) + 2,
  ])
  const atOnce = pLimit(TURNS_AT_ONCE)
  let isComplete = true
  const turns = await Promise.all(
    rows.reverse().map((row) =>
      atOnce(async () => {
        try {
          const messages = await atPlatform.ask(place, turn(place.conversation, row.answer_id), signal)
          const answers = new Map([[row.answer_id, { callId: row.id, rating: row.rating }]])
          return messages.map((message, n) => ({
            ...messageOf(place, message, answers),
            id: `${row.id}.${n}`,
          }))
        } catch (error) {
          // The platform keeps its tasks as long as it likes.
          if (!(error instanceof Problem) || error.reason !== 'conversation_not_found') throw error
          isComplete = false
          return []
        }
      }),
    ),
  )
  const items = turns.flat()
  const end = before === undefined ? items.length : items.findIndex(({ id }) => id === before)
  return cut(end < 0 ? items : items.slice(0, end), limit, isComplete)
}

/** The last items, of at least one more than are shown if there are as many. */
function cut(items: readonly ConversationMessage[], limit: number, isComplete: boolean): History {
  const shown = items.slice(-limit)
  return { items: shown, before: items.length > limit ? (shown[0]?.id ?? null) : null, isComplete }
}

/** The place of a message in a turn: the id of the call, and the number of the message. */
function placeIn(before: string): { readonly callId: string } {
  const [callId = ''] = before.split('.', 1)
  return validate(callId) ? { callId } : refuseBefore()
}

function nameOf({ ownerId, conversation, agent, app, endUser, since }: Conversation): readonly unknown[] {
  return [ownerId, conversation, agent, app, endUser, since]
}

interface AnswerRow {
  readonly id: string
  readonly answer_id: string
  readonly rating: Rating | null
}

interface TurnRow {
  readonly id: string
  readonly question: string
  readonly answer: string
  readonly is_escaped: boolean
  readonly created_at: Date
  readonly rating: Rating | null
}

const NAME = (first: number) =>
  `(SELECT $${first}::uuid AS owner_id, $${first + 1}::text AS conversation, $${first + 2}::text AS agent, $${first + 3}::text AS app, $${first + 4}::text AS end_user, $${first + 5}::timestamptz AS since) AS l`

/** `$1` to `$6` the conversation, `$7` a JSON array of the platform's ids. */
const ANSWERS = `
SELECT c.id::text, c.answer_id, c.rating FROM ${NAME(1)} JOIN calls c ON ${CALL_OF_CONVERSATION}
WHERE c.answer_id = ANY (ARRAY(SELECT json_array_elements_text($7::json)))`

/** `$1` to `$6` the conversation, `$7` the call up to which it is read, `$8` rows at most. Newest first. */
const ANSWERED = `
SELECT c.id::text, c.answer_id, c.rating FROM ${NAME(1)} JOIN calls c ON ${CALL_OF_CONVERSATION}
WHERE c.answer_id IS NOT NULL AND ($7::uuid IS NULL OR c.id <= $7::uuid)
ORDER BY c.id DESC LIMIT $8`

/** `$1` key, `$2` the call up to which it is read, `$3` rows at most. Newest first. The text of a turn beyond the bounds is empty. */
const KEPT_TURNS = `
SELECT t.id::text, t.question, t.answer, t.is_escaped, t.created_at, c.rating
FROM turns t LEFT JOIN calls c ON c.id = t.id
WHERE t.conversation = $1 AND t.question <> ''
  AND ($2::uuid IS NULL OR (t.created_at, t.id) <= (SELECT created_at, id FROM turns WHERE conversation = $1 AND id = $2::uuid))
ORDER BY t.created_at DESC, t.id DESC LIMIT $3`

/** `$1` key, `$2` to `$7` the conversation. */
const COUNTS = `
SELECT (SELECT count(*)::int4 FROM turns WHERE conversation = $1 AND question <> '') AS kept,
  (SELECT count(*)::int4 FROM (
    SELECT FROM ${NAME(2)} JOIN calls c ON ${CALL_OF_CONVERSATION} WHERE c.kind = 'chat' AND c.outcome = 'done' LIMIT 1000) AS answered) AS answered`
