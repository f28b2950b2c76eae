import { statSync } from 'node:fs'
import { readRegularFileSync } from '#core/base/read-regular-file.ts'

const LOOK_EVERY_MS = 1_000

/**
 * The parsed content of a small file of the system, which is read again when it has changed. It is looked at when it is used,
 * at most once a second. Without the file the content is that of an empty one.
 */
export class WatchedFile<Content> {
  readonly #path: string
  readonly #parse: (text: string) => Content
  readonly #elapsedMs: () => number
  #content: Content
  #version: string | undefined
  #nextLookMs = Number.NEGATIVE_INFINITY

  constructor(path: string, parse: (text: string) => Content, elapsedMs: () => number) {
    this.#path = path
    this.#parse = parse
    this.#elapsedMs = elapsedMs
    this.#content = parse('')
  }

  /** The same object until the file changes. */
  get content(): Content {
    const nowMs = this.#elapsedMs()
    if (nowMs >= this.#nextLookMs) {
      this.#nextLookMs = nowMs + LOOK_EVERY_MS
      this.#look()
    }
    return this.#content
  }

  /** Synchronously, since the thread pool that serves the asynchronous functions may be full of look-ups of names. */
  #look(): void {
    const version = this.#versionOf()
    if (version === this.#version) return
    try {
      this.#content = this.#parse(version === undefined ? '' : readRegularFileSync(this.#path))
      this.#version = version
    } catch {
      // The file is being replaced, may not be read or is a pipe. The content before is the best guess, and the next look tries again.
    }
  }

  /** Undefined if there is no file. Editors replace a file (another inode), and programs rewrite it in place. */
  #versionOf(): string | undefined {
    const stat = statSync(this.#path, { throwIfNoEntry: false })
    return stat && `${stat.ino} ${stat.size} ${stat.mtimeMs}`
  }
}
