import { resolve } from 'node:path'
import { readRegularFile, readRegularFileSync, UnreadableFile } from '#core/base/read-regular-file.ts'
import { errorCode } from '#core/base/values/error-code.ts'

/** A certificate or a key has a few kilobytes. */
const BYTES_MAX = 1024 * 1024

type FileText = { readonly path: string; readonly text: string } | { readonly problem: string }

/**
 * The texts of the files that a configuration names, each read once. Another process that is given them resolves the same
 * configuration, whatever the files have become in the meantime.
 */
export class FileTexts {
  readonly #cwd: string
  readonly #found: Map<string, FileText>
  /** Files that were named and have not been read, where they are read later. */
  #unread: Set<string> | undefined

  /**
   * @param cwd - the folder to which paths are relative
   * @param texts - what was read before, by absolute path
   */
  constructor(cwd: string, texts: Readonly<Record<string, string>> = {}) {
    this.#cwd = cwd
    this.#found = new Map(Object.entries(texts).map(([path, text]) => [path, { path, text }]))
  }

  /**
   * Resolves a configuration without waiting for its files: it is resolved again, with each file that it turned out to name, until none
   * is missing.
   */
  static async reading<Result>(cwd: string, resolveWith: (files: FileTexts) => Result): Promise<Result> {
    const files = new FileTexts(cwd)
    for (;;) {
      files.#unread = new Set()
      try {
        const result = resolveWith(files)
        if (files.#unread.size === 0) return result
      } catch (error) {
        if (files.#unread.size === 0) throw error
      }
      // One by one, since each of them that hangs would keep a thread.
      for (const path of files.#unread)
        files.#found.set(path, await readRegularFile(path).then(textAt(path), problemAt(path)))
    }
  }

  read(file: string): FileText {
    const path = resolve(this.#cwd, file)
    const found = this.#found.get(path)
    if (found !== undefined) return found
    if (this.#unread !== undefined) {
      this.#unread.add(path)
      return { problem: `the file ${path} is not read yet` }
    }
    const read = readNow(path)
    this.#found.set(path, read)
    return read
  }

  /** All that was read, by absolute path. */
  all(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      [...this.#found].flatMap(([path, found]) => ('text' in found ? [[path, found.text]] : [])),
    )
  }
}

function readNow(path: string): FileText {
  try {
    return textAt(path)(readRegularFileSync(path))
  } catch (error) {
    return problemAt(path)(error)
  }
}

const textAt =
  (path: string) =>
  (text: string): FileText =>
    text.length > BYTES_MAX ? { problem: `the file ${path} has more than 1 MiB` } : { path, text }

const problemAt =
  (path: string) =>
  (error: unknown): FileText => {
    const reason = error instanceof UnreadableFile ? error.message : errorCode(error)
    return {
      problem: reason === 'ENOENT' ? `there is no file ${path}` : `cannot read ${path} (${reason})`,
    }
  }
