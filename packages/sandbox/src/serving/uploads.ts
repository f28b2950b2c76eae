import type { FormFile } from './read-form.ts'

export interface Upload extends FormFile {
  /** Only this owner may use the upload; what an owner is depends on the platform. */
  readonly owner: string
}

const UPLOADS_MAX = 10_000

/** The uploads of one emulator, without their bytes. The oldest is dropped when there are more than 10,000. */
export class Uploads {
  readonly #uploads = new Map<string, Upload>()

  find(id: string, owner: string): Upload | undefined {
    const upload = this.#uploads.get(id)
    return upload?.owner === owner ? upload : undefined
  }

  add(id: string, upload: Upload): void {
    this.#uploads.set(id, upload)
    const oldest = this.#uploads.keys().next()
    if (this.#uploads.size > UPLOADS_MAX && !oldest.done) this.#uploads.delete(oldest.value)
  }

  forget(): void {
    this.#uploads.clear()
  }
}
