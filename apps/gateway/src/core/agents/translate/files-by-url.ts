import type { AgentFile, FileByUrl } from '#core/agents/adapter.ts'

/**
 * Returns the files of a call to a platform that takes URLs alone.
 *
 * @throws Error for a file by id: only `Adapter.uploadFile` creates ids, and such a platform has none
 */
export function filesByUrl(files: readonly AgentFile[]): readonly FileByUrl[] {
  return files.map((file) => {
    if ('url' in file) return file
    throw new Error('a file was given by id to a platform that takes files by URL alone')
  })
}
