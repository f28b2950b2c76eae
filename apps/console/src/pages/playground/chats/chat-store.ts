import type { SentFile } from './turn.ts'

/** What the list of chats shows, and what a chat needs to go on. Its turns are stored beside it. */
export interface ChatRecord {
  readonly id: string
  readonly userId: string
  readonly agent: string
  readonly app: string
  readonly conversationId: string
  /** On whose behalf it asks; records of older consoles have none. */
  readonly endUser?: string | undefined
  readonly title: string
  /** Whether the user has given it its title. */
  readonly isRenamed: boolean
  /** Milliseconds since 1970, of the last question. */
  readonly changedAtMs: number
  /** About how many characters its turns take. */
  readonly size: number
}

/** What is written but not sent. */
export interface Draft {
  readonly text: string
  readonly files: readonly SentFile[]
}

/** Turns by their ids, as they are to be stored. */
export type StoredTurns = ReadonlyMap<string, object>

const DATABASE = 'trunkline.chats'
const VERSION = 1
/** A browser that has not opened it by then, such as one with a broken profile, is taken for one that keeps nothing. */
const OPENED_WITHIN_MS = 5_000

/**
 * The chats of this browser in IndexedDB, which every gateway has for itself because its address is another origin. Turns are rows of
 * their own, so that a long chat is not written anew with every answer, and two tabs may add to one chat.
 */
export class ChatStore {
  readonly #database: IDBDatabase

  private constructor(database: IDBDatabase) {
    this.#database = database
  }

  /** Undefined where the browser keeps nothing, as in some private windows, or where a newer console has changed the form. */
  static async open(): Promise<ChatStore | undefined> {
    try {
      const opening = indexedDB.open(DATABASE, VERSION)
      opening.onupgradeneeded = () => {
        const { result: database } = opening
        database.createObjectStore('chats', { keyPath: 'id' }).createIndex('byUser', 'userId')
        database.createObjectStore('turns', { keyPath: ['chatId', 'id'] })
        database.createObjectStore('drafts', { keyPath: ['userId', 'name'] })
      }
      const database = await openedInTime(opening)
      // A newer console in another tab could not open it otherwise.
      database.onversionchange = () => database.close()
      return new ChatStore(database)
    } catch {
      return undefined
    }
  }

  async list(userId: string): Promise<readonly ChatRecord[]> {
    const stored = await resultOf<ChatRecord[]>(this.#read('chats').index('byUser').getAll(userId))
    return stored.filter(isRecord)
  }

  async turns(chatId: string): Promise<readonly unknown[]> {
    const rows = await resultOf<{ turn: unknown }[]>(this.#read('turns').getAll(turnsOf(chatId)))
    return rows.map(({ turn }) => turn)
  }

  async drafts(userId: string): Promise<ReadonlyMap<string, Draft>> {
    const rows = await resultOf<{ name: string; draft: Draft }[]>(
      this.#read('drafts').getAll(IDBKeyRange.bound([userId], [userId, []])),
    )
    return new Map(rows.map(({ name, draft }) => [name, draft]))
  }

  /**
   * Stores the record, the turns that have changed, and that others are gone.
   *
   * @throws DOMException `QuotaExceededError` if the browser has no room for it
   */
  async save(record: ChatRecord, changed: StoredTurns, gone: readonly string[]): Promise<void> {
    await this.#write((stores) => {
      stores.chats.put(record)
      for (const [id, turn] of changed) stores.turns.put({ chatId: record.id, id, turn })
      for (const id of gone) stores.turns.delete([record.id, id])
    })
  }

  async remove(userId: string, chatIds: readonly string[]): Promise<void> {
    await this.#write((stores) => {
      for (const id of chatIds) {
        stores.chats.delete(id)
        stores.turns.delete(turnsOf(id))
        stores.drafts.delete([userId, id])
      }
    })
  }

  async removeDrafts(userId: string): Promise<void> {
    await this.#write(({ drafts }) => drafts.delete(IDBKeyRange.bound([userId], [userId, []])))
  }

  /** An empty draft is removed. */
  async saveDraft(userId: string, name: string, draft: Draft): Promise<void> {
    await this.#write(({ drafts }) => {
      if (draft.text === '' && draft.files.length === 0) drafts.delete([userId, name])
      else drafts.put({ userId, name, draft })
    })
  }

  #read(store: (typeof STORES)[number]): IDBObjectStore {
    return this.#database.transaction(store).objectStore(store)
  }

  #write(change: (stores: Record<(typeof STORES)[number], IDBObjectStore>) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const transaction = this.#database.transaction(STORES, 'readwrite')
      transaction.oncomplete = () => resolve()
      transaction.onabort = () => reject(transaction.error)
      const [chats, turns, drafts] = STORES.map((name) => transaction.objectStore(name))
      change({ chats, turns, drafts } as Record<(typeof STORES)[number], IDBObjectStore>)
      // Not when the last request has been answered: the page may be gone by then.
      transaction.commit()
    })
  }
}

const STORES = ['chats', 'turns', 'drafts'] as const

/** Arrays come after all texts. */
const turnsOf = (chatId: string) => IDBKeyRange.bound([chatId], [chatId, []])

function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

/** Another version of the console may have stored something else. */
function isRecord(stored: Partial<ChatRecord> | undefined): stored is ChatRecord {
  const { id, agent, app, conversationId, title, changedAtMs, size } = Object(stored)
  const areTexts = [id, agent, app, conversationId, title].every((field) => typeof field === 'string')
  return areTexts && typeof changedAtMs === 'number' && typeof size === 'number'
}

/** Rejects if the database is not opened in time; one that is opened later is closed. */
function openedInTime(opening: IDBOpenDBRequest): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new DOMException('The database was not opened in time.', 'TimeoutError'))
      opening.onsuccess = () => opening.result.close()
    }, OPENED_WITHIN_MS)
    resultOf(opening)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}
