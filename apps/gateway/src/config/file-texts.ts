import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { errorCode } from '#core/base/values/error-code.ts'

/** A certificate or a key has a few kilobytes. */
const BYTES_MAX = 1024 * 1024

/**
 * The texts of the files that a configuration names, each read once. Another process that is given them resolves the same
 * configuration, whatever the files have become in the meantime.
 */
export class FileTexts {
  readonly #cwd: string
  readonly #texts: Map<string, string>

  /**
   * @param cwd - the folder to which paths are relative
   * @param texts - what was read before, by absolute path
   */
  constructor(cwd: string, texts: Readonly<Record<string, string>> = {}) {
    this.#cwd = cwd
    this.#texts = new Map(Object.entries(texts))
  }

  read(file: string): { readonly path: string; readonly text: string } | { readonly problem: string } {
    const path = resolve(this.#cwd, file)
    const known = this.#texts.get(path)
    if (known !== undefined) return { path, text: known }
    try {
      const text = readFileSync(path, 'utf8')
      if (text.length > BYTES_MAX) return { problem: `the file ${path} has more than 1 MiB` }
      this.#texts.set(path, text)
      return { path, text }
    } catch (error) {
      const code = errorCode(error)
      return { problem: code === 'ENOENT' ? `there is no file ${path}` : `cannot read ${path} (${code})` }
    }
  }

  /** All that was read, by absolute path. */
  all(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#texts)
  }
}
