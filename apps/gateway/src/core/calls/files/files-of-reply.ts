import type { Agent } from '#core/agents/adapter.ts'
import { endOfText, type MadeFile, type OfferedFile, paragraphBreak } from '#core/agents/made-file.ts'
import { shownName } from '#core/uploads/content/file-name.ts'
import { clientFileUrl, lacksFilesUrl, resolveFileUrl } from '#core/uploads/kept-files/resolve-file-url.ts'
import { fileText } from './file-text.ts'
import { SeenUrls } from './seen-urls.ts'

/** The most files that are offered of one reply; further ones are left out. */
export const FILES_OF_REPLY_MAX = 20

/** The files of one reply, each of them once, and how they are shown within its text. */
export class FilesOfReply {
  readonly #agent: Pick<Agent, 'baseUrl' | 'filesUrl'>
  readonly #seen = new SeenUrls()
  /** The URLs of the files, without what signs them: platforms sign the address of a file anew each time that they report it. */
  readonly #addresses = new Set<string>()
  #files: readonly { readonly made: MadeFile; readonly offered: OfferedFile }[] = NONE
  /** The last two characters of the text so far. */
  #end = ''
  /** Whether the text ends with a line that shows a file. */
  #isAfterFile = false

  /** @param textBefore - the end of the text that came before, in which there is no URL */
  constructor(agent: Pick<Agent, 'baseUrl' | 'filesUrl'>, textBefore = '') {
    this.#agent = agent
    if (textBefore !== '') this.saw(textBefore)
  }

  get all(): readonly { readonly made: MadeFile; readonly offered: OfferedFile }[] {
    return this.#files
  }

  /** Whether a file has an address that clients do not reach, because the agent's entry does not say where its files are. */
  get lacksFilesUrl(): boolean {
    return this.#files.some(
      ({ made: { url } }) => url !== undefined && !isData(url) && lacksFilesUrl(url, this.#agent),
    )
  }

  /** Where the content of a file is at the platform; undefined where the reply itself has it, or nobody can say. */
  urlOf({ url }: Pick<MadeFile, 'url'>): string | undefined {
    return url === undefined || isData(url) ? undefined : resolveFileUrl(url, this.#agent)
  }

  /** As clients get them. */
  get offered(): readonly OfferedFile[] {
    return this.#files.map(({ offered }) => offered)
  }

  /** A file has another address now, and perhaps another name. */
  replace(made: MadeFile, offered: OfferedFile): void {
    this.#files = this.#files.map((file) => (file.made === made ? { made, offered } : file))
  }

  /** Notes a piece of the text of the reply. */
  saw(text: string): void {
    this.#end = endOfText(this.#end, text)
    this.#isAfterFile = false
    this.#seen.add(text)
  }

  /** What separates the next piece of the text from the line before it, if that shows a file. */
  breakBefore(text: string): string {
    return this.#isAfterFile ? paragraphBreak(this.#end, text) : ''
  }

  /** Takes a file that has come; undefined for one that has come before. */
  take(made: MadeFile): OfferedFile | undefined {
    const address = made.url === undefined ? undefined : withoutQuery(made.url)
    const isKnown = address !== undefined && this.#addresses.has(address)
    if (isKnown || this.#files.length >= FILES_OF_REPLY_MAX) return undefined
    if (address !== undefined) this.#addresses.add(address)
    const url = made.url === undefined || isData(made.url) ? undefined : clientFileUrl(made.url, this.#agent)
    const offered = offeredFile(made, url)
    this.#files = [...this.#files, { made, offered }]
    return offered
  }

  /** The text that shows a file, on a line of its own; empty if the text has its URL already. */
  textOf({ url: own }: Pick<MadeFile, 'url'>, offered: OfferedFile): string {
    const urls = [own, offered.url].filter((url) => url !== undefined && !isData(url)) as string[]
    if (this.#seen.hasAny(urls)) return ''
    const line = fileText(offered)
    const text = paragraphBreak(this.#end, line) + line
    this.saw(text)
    this.#isAfterFile = true
    return text
  }
}

const NONE: FilesOfReply['all'] = []

export function offeredFile({ type, name, mediaType }: MadeFile, url: string | undefined): OfferedFile {
  return {
    ...(url !== undefined && { url }),
    type,
    ...(name !== undefined && { name: shownName(name) }),
    ...(mediaType !== undefined && { media_type: mediaType }),
  }
}

export function isData(url: string): boolean {
  return /^data:/i.test(url)
}

function withoutQuery(url: string): string {
  return isData(url) ? url : (url.split(/[?#]/, 1)[0] ?? url)
}
