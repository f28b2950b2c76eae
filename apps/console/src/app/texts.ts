import type { Messages, PageMessages, StartMessages } from '../../messages/en.ts'
import { chooseLanguage, type Language, loadMessages, loadPageMessages } from './language.ts'

interface LoadedTexts {
  readonly language: Language
  /** Pages that need more are shown only once these are there. */
  readonly messages: Messages
}

type Listener = () => void

/** The language of the page, and those of its messages that have been loaded. */
class Texts {
  #current: LoadedTexts | undefined
  #hasPages = false
  readonly #listeners = new Set<Listener>()

  /** @throws Error before the start has loaded the first messages */
  get current(): LoadedTexts {
    if (this.#current === undefined) throw new Error('no messages have been loaded')
    return this.#current
  }

  /** @throws PartNotLoadedError */
  async start(language: Language): Promise<void> {
    this.#set(language, await loadMessages(language))
  }

  /**
   * Loads what pages beside the overview need as well, once.
   *
   * @throws PartNotLoadedError
   */
  async loadPages(): Promise<void> {
    if (this.#hasPages) return
    const { language } = this.current
    const pages = await loadPageMessages(language)
    // If another language was chosen meanwhile, all texts of that language were loaded with the choice.
    if (language === this.current.language) this.#set(language, this.current.messages, pages)
  }

  /** @throws PartNotLoadedError */
  async choose(language: Language): Promise<void> {
    const [start, pages] = await Promise.all([loadMessages(language), loadPageMessages(language)])
    chooseLanguage(language)
    this.#set(language, start, pages)
  }

  readonly subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #set(language: Language, start: StartMessages, pages?: PageMessages): void {
    this.#hasPages = pages !== undefined
    this.#current = { language, messages: { ...start, ...pages } as Messages }
    for (const listener of this.#listeners) listener()
  }
}

export const texts = new Texts()
