import type { ChatSession } from './chat-session.ts'
import type { ChatRecord, ChatStore, Draft } from './chat-store.ts'
import { restoredTurn, storedTurn } from './stored-turn.ts'
import type { Turn } from './turn.ts'

/** A user rarely looks further back, and the list stays one that can be read. */
export const CHATS_MAX = 100
/** Of the turns of all chats. Characters take one or two bytes each. */
export const CHARACTERS_MAX = 50_000_000
export const TITLE_CHARACTERS_MAX = 80
const DRAFT_SAVED_AFTER_MS = 250

/** What a page shows of the chats. */
export interface ChatsView {
  /** False until what the browser has kept is read. */
  readonly isLoaded: boolean
  /** The last one that was used is the first. */
  readonly list: readonly ChatRecord[]
  /** `memory` where the browser keeps nothing beyond this page; `full` where it had no more room. */
  readonly kept: 'browser' | 'memory' | 'full'
}

interface ChatsOptions {
  readonly userId: string
  /** Undefined where the browser keeps nothing. */
  openStore(): Promise<ChatStore | undefined>
  /** Makes a chat, a new one or from what was kept of it. */
  newSession(chat: ChatToOpen): ChatSession
  /** Notifies other tabs of this user that a chat has changed or is gone. */
  tellChange(chatId: string): void
  /** Notifies other tabs of this user that all chats are deleted. */
  tellCleared(): void
  /** Keeps at once what a page has not stored when it is left, for the next page of this tab. */
  readonly handOver: { take(): string | undefined; leave(text: string | undefined): void }
}

/** What makes a conversation of this user one, as the gateway names it. */
export interface ConversationPlace {
  readonly agentId: string
  readonly appId: string
  /** The id by which its calls name it. */
  readonly conversationId: string
  /** Empty for none. */
  readonly endUser: string
}

export interface ChatToOpen {
  readonly id?: string
  readonly agent: string
  readonly app: string
  /** False for agents that remember nothing. */
  readonly keepsConversation: boolean
  readonly turns?: readonly Turn[]
  readonly conversationId?: string
  readonly endUser?: string | undefined
  readonly save: (session: ChatSession) => void
}

/** What was being stored when the page was left. */
interface Unsaved {
  readonly saves: readonly (readonly [ChatRecord, (readonly [string, object])[], readonly string[]])[]
  readonly drafts: readonly (readonly [string, Draft])[]
}

const EMPTY_DRAFT: Draft = { text: '', files: [] }

/**
 * The chats of one user in this browser. All of them are in the list; those that were opened on this page are sessions, which go on
 * while other pages are shown. What is kept beyond the page is bounded: the chats that were used least recently make room.
 */
export class ChatsOfUser {
  readonly #options: ChatsOptions
  readonly #listeners = new Set<() => void>()
  readonly #records = new Map<string, ChatRecord>()
  readonly #sessions = new Map<string, ChatSession>()
  readonly #drafts = new Map<string, Draft>()
  readonly #draftTimers = new Map<string, ReturnType<typeof setTimeout>>()
  /** The turns of a session as they were stored last; those that are another object by now have changed. */
  readonly #storedTurns = new WeakMap<ChatSession, ReadonlyMap<string, Turn>>()
  /** What is being stored at the moment. */
  readonly #saves = new Set<Parameters<ChatStore['save']>>()
  readonly #sizes = new WeakMap<Turn, number>()
  readonly #loaded: Promise<void>
  #store: ChatStore | undefined
  #isClosed = false
  #view: ChatsView = { isLoaded: false, list: [], kept: 'browser' }

  constructor(options: ChatsOptions) {
    this.#options = options
    this.#loaded = this.#load()
  }

  get view(): ChatsView {
    return this.#view
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves once the list has been read. */
  get loaded(): Promise<void> {
    return this.#loaded
  }

  record(id: string): ChatRecord | undefined {
    return this.#records.get(id)
  }

  /** The chat that goes on with a conversation, where this browser has one. */
  ofConversation(conversation: ConversationPlace): ChatRecord | undefined {
    const { agentId, appId, conversationId, endUser } = conversation
    return this.#view.list.find(
      (chat) =>
        chat.agent === agentId &&
        chat.app === appId &&
        chat.conversationId === conversationId &&
        (chat.endUser ?? '') === endUser,
    )
  }

  /** A chat that is new until its first message, or that begins with turns of another one. */
  begin(chat: Omit<ChatToOpen, 'save'>): ChatSession {
    return this.#options.newSession({ ...chat, save: (session) => this.#save(session) })
  }

  /** The chat where it is open on this page already. */
  opened(id: string): ChatSession | undefined {
    return this.#sessions.get(id)
  }

  /** Opens a chat that was kept. Undefined where there is none of this id of this user. */
  async open(id: string, keepsConversation: boolean): Promise<ChatSession | undefined> {
    await this.#loaded
    const record = this.#records.get(id)
    if (record === undefined) return this.opened(id)
    const turns = (await this.#turnsOf(id)) ?? []
    const session = this.opened(id) ?? this.begin({ ...record, keepsConversation, turns })
    this.#storedTurns.set(session, byId(session.turns))
    if (!this.#isClosed) this.#sessions.set(id, session)
    return session
  }

  rename(id: string, title: string): void {
    const record = this.#records.get(id)
    const trimmed = title.trim().slice(0, TITLE_CHARACTERS_MAX)
    if (record === undefined || trimmed === '') return
    this.#put({ ...record, title: trimmed, isRenamed: true })
    this.#keep(this.#records.get(id) as ChatRecord, new Map(), [])
  }

  async remove(id: string): Promise<void> {
    this.#forget(id)
    this.#show()
    await this.#store?.remove(this.#options.userId, [id])
    this.#options.tellChange(id)
  }

  /** Deletes all chats and drafts of the user from this browser, also what other tabs are writing. */
  async clear(): Promise<void> {
    await this.#loaded
    this.#options.tellCleared()
    await this.#deleteAll()
  }

  /** Follows another tab that deletes all chats. What this tab has begun to store is deleted after it has been stored. */
  async takeClearing(): Promise<void> {
    await this.#loaded
    // Where this tab has lost its store, there is nothing to delete, or the other tab cannot either.
    await this.#deleteAll().catch(() => undefined)
  }

  async #deleteAll(): Promise<void> {
    const { userId } = this.#options
    const ids = [...this.#records.keys(), ...this.#sessions.keys()]
    for (const id of ids) this.#forget(id)
    for (const timer of this.#draftTimers.values()) clearTimeout(timer)
    this.#draftTimers.clear()
    this.#drafts.clear()
    this.#show()
    await this.#store?.remove(userId, ids)
    await this.#store?.removeDrafts(userId)
  }

  draft(name: string): Draft {
    return this.#drafts.get(name) ?? EMPTY_DRAFT
  }

  /** Keeps what is being written, at once in memory and a moment later in the browser. */
  setDraft(name: string, change: Partial<Draft>): void {
    if (this.#isClosed) return
    this.#drafts.set(name, { ...this.draft(name), ...change })
    clearTimeout(this.#draftTimers.get(name))
    this.#draftTimers.set(
      name,
      setTimeout(() => this.#saveDraft(name), DRAFT_SAVED_AFTER_MS),
    )
  }

  /**
   * Hands over to the next page of this tab what has not been stored yet. A browser may break off what a page begins to store while it
   * is left.
   */
  leave(): void {
    for (const session of this.#sessions.values()) if (session.isRunning) session.save()
    const unsaved: Unsaved = {
      saves: [...this.#saves].map(([record, turns, gone]) => [record, [...turns], gone]),
      drafts: [...this.#draftTimers.keys()].map((name) => [name, this.draft(name)]),
    }
    const isEmpty = unsaved.saves.length + unsaved.drafts.length === 0
    this.#options.handOver.leave(isEmpty ? undefined : JSON.stringify(unsaved))
  }

  /** Stops what is running, and stores nothing more. */
  close(): void {
    for (const name of [...this.#draftTimers.keys()]) this.#saveDraft(name)
    for (const session of this.#sessions.values()) if (session.isRunning) session.save()
    this.#isClosed = true
    for (const session of this.#sessions.values()) session.close()
    this.#sessions.clear()
    this.#drafts.clear()
  }

  /** Reads what another tab has changed. */
  async takeChange(chatId: string): Promise<void> {
    await this.#loaded
    const records = (await this.#store?.list(this.#options.userId)) ?? []
    const record = records.find(({ id }) => id === chatId)
    const session = this.#sessions.get(chatId)
    if (record === undefined) {
      // A chat that is being answered here is stored again, as a whole, with its next words; others are gone.
      if (session?.isRunning === true) this.#storedTurns.delete(session)
      else this.#forget(chatId)
    } else {
      this.#records.set(chatId, record)
      if (session !== undefined) {
        const turns = (await this.#turnsOf(chatId)) ?? []
        session.takeStored(turns, record.conversationId)
        this.#storedTurns.set(session, byId(session.turns))
      }
    }
    this.#show()
  }

  async #load(): Promise<void> {
    const { userId, openStore } = this.#options
    try {
      this.#store = await openStore()
      // What cannot be stored, or was left by another version of the console, is lost without harm to the rest.
      await this.#takeOver().catch(() => undefined)
      for (const record of (await this.#store?.list(userId)) ?? []) this.#records.set(record.id, record)
      for (const [name, draft] of (await this.#store?.drafts(userId)) ?? []) this.#drafts.set(name, draft)
    } catch {
      this.#store = undefined
    }
    this.#view = { ...this.#view, isLoaded: true, kept: this.#store === undefined ? 'memory' : 'browser' }
    this.#show()
  }

  /** Stores what the page before has not. */
  async #takeOver(): Promise<void> {
    const { userId, handOver } = this.#options
    const text = handOver.take()
    if (text === undefined) return
    handOver.leave(undefined)
    const { saves, drafts }: Unsaved = JSON.parse(text)
    for (const [record, turns, gone] of saves) await this.#store?.save(record, new Map(turns), gone)
    for (const [name, draft] of drafts) await this.#store?.saveDraft(userId, name, draft)
  }

  async #turnsOf(chatId: string): Promise<readonly Turn[] | undefined> {
    const rows = await this.#store?.turns(chatId)
    return rows
      ?.flatMap((row) => restoredTurn(row) ?? [])
      .sort((one, other) => one.startedAtMs - other.startedAtMs)
  }

  #save(session: ChatSession): void {
    if (this.#isClosed || session.turns.length === 0) return
    const { id, agent, app, conversationId, endUser, turns } = session
    this.#sessions.set(id, session)
    const before = this.#storedTurns.get(session) ?? new Map<string, Turn>()
    const changed = turns.filter((turn) => before.get(turn.id) !== turn)
    const now = byId(turns)
    const gone = [...before.keys()].filter((turnId) => !now.has(turnId))
    this.#storedTurns.set(session, now)
    const known = this.#records.get(id)
    const record: ChatRecord = {
      id,
      userId: this.#options.userId,
      agent,
      app,
      conversationId,
      endUser,
      title: known?.isRenamed === true ? known.title : titleOf(turns),
      isRenamed: known?.isRenamed === true,
      changedAtMs: Math.max(...turns.map(({ startedAtMs }) => startedAtMs)),
      size: turns.reduce((sum, turn) => sum + this.#sizeOf(turn), 0),
    }
    this.#put(record)
    this.#keep(record, new Map(changed.map((turn) => [turn.id, storedTurn(turn)])), gone, () =>
      this.#storedTurns.delete(session),
    )
  }

  #put(record: ChatRecord): void {
    this.#records.set(record.id, record)
    this.#show()
  }

  #keep(
    record: ChatRecord,
    changed: ReadonlyMap<string, object>,
    gone: readonly string[],
    onFailure?: () => void,
  ) {
    void this.#makeRoom(record.id)
    if (this.#store === undefined) return
    const save: Parameters<ChatStore['save']> = [record, changed, gone]
    this.#saves.add(save)
    const saved = this.#store.save(...save).finally(() => this.#saves.delete(save))
    saved.then(
      () => {
        if (this.#view.kept === 'full') this.#setKept('browser')
        this.#options.tellChange(record.id)
      },
      async (error: unknown) => {
        onFailure?.()
        if (Object(error).name !== 'QuotaExceededError') return this.#setKept('memory')
        // The browser has no more room. An older chat gives its own, and the next saving tries again.
        const oldest = this.#leastRecent(record.id)
        if (oldest === undefined) this.#setKept('full')
        else {
          await this.remove(oldest.id).catch(() => this.#setKept('full'))
          if (changed.size > 0) this.#sessions.get(record.id)?.save()
        }
      },
    )
  }

  /** Deletes the chats that were used least recently while there are too many of them. */
  async #makeRoom(keptId: string): Promise<void> {
    const isTooMuch = () => {
      const sizes = [...this.#records.values()].map(({ size }) => size)
      return sizes.length > CHATS_MAX || sizes.reduce((sum, size) => sum + size, 0) > CHARACTERS_MAX
    }
    while (isTooMuch()) {
      const oldest = this.#leastRecent(keptId)
      if (oldest === undefined) return
      await this.remove(oldest.id).catch(() => undefined)
    }
  }

  #leastRecent(exceptId: string): ChatRecord | undefined {
    return this.#view.list.findLast(({ id }) => id !== exceptId && this.opened(id)?.isRunning !== true)
  }

  #saveDraft(name: string): void {
    clearTimeout(this.#draftTimers.get(name))
    this.#draftTimers.delete(name)
    // What cannot be stored stays in memory.
    this.#store?.saveDraft(this.#options.userId, name, this.draft(name)).catch(() => undefined)
    if (this.draft(name).text === '' && this.draft(name).files.length === 0) this.#drafts.delete(name)
  }

  #forget(id: string): void {
    this.#sessions.get(id)?.close()
    this.#sessions.delete(id)
    this.#records.delete(id)
    clearTimeout(this.#draftTimers.get(id))
    this.#draftTimers.delete(id)
    this.#drafts.delete(id)
  }

  #sizeOf(turn: Turn): number {
    const known = this.#sizes.get(turn)
    if (known !== undefined) return known
    const { query, text, carried, earlierAnswers, details } = turn
    const texts = [query, text, carried, ...earlierAnswers]
    const size = JSON.stringify(details).length + texts.reduce((sum, { length }) => sum + length, 0)
    this.#sizes.set(turn, size)
    return size
  }

  #setKept(kept: ChatsView['kept']): void {
    this.#view = { ...this.#view, kept }
    this.#show()
  }

  #show(): void {
    const list = [...this.#records.values()].sort((one, other) => other.changedAtMs - one.changedAtMs)
    this.#view = { ...this.#view, list }
    for (const listener of this.#listeners) listener()
  }
}

const byId = (turns: readonly Turn[]): ReadonlyMap<string, Turn> =>
  new Map(turns.map((turn) => [turn.id, turn]))

/** The first question, of which the list shows one line. */
function titleOf([first]: readonly Turn[]): string {
  return (first?.query ?? '').trim().replace(/\s+/g, ' ').slice(0, TITLE_CHARACTERS_MAX)
}
