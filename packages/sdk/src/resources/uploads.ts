import { type ApiPromise, apiPromise, type ListPromise, type WithResponse } from '../api-promise.ts'
import { ConnectionError, StatusError } from '../errors.ts'
import type { operations, Upload } from '../generated/wire.ts'
import type { CallOptions } from '../options.ts'
import { NotFoundError } from '../status-errors.ts'
import { type UploadParams, uploadRequest } from '../uploads/upload-request.ts'
import type { UploadSource } from '../uploads/upload-source.ts'
import { type ListQuery, Resource } from './resource.ts'

/** How many uploads are requested at once. */
export type UploadFilter = ListQuery<'listUploads'>

/** What is left of an upload that was deleted. */
export type DeletedUpload =
  operations['deleteUpload']['responses'][200]['content']['application/json']['data']

/** Files for chats; reached as `client.uploads`. */
export class Uploads extends Resource {
  /**
   * Uploads a file; its `url` can be one of the `files` of a chat. A stream is sent as it is read, so that an attempt that has read
   * from it is the last one. It is closed in any case. What cannot be read throws a `FileError`, as does a path whose file is
   * written to meanwhile; of a file that always grows, such as a log, pass a stream.
   *
   * @example
   * ```ts
   * const { url } = await client.uploads.create('./notes.txt', {
   *   created_by: 'alice',
   *   onProgress: ({ loaded, total }) => console.log(loaded, total),
   * })
   * await client.chat.create({ agent: 'dify', query: 'Summarise these notes.', files: [url] })
   * ```
   */
  create(file: UploadSource, params: UploadParams, options?: CallOptions): ApiPromise<Upload> {
    return apiPromise(this.#create(file, params, options))
  }

  /**
   * Lists uploads, newest first. `for await` reads all pages; `await` alone the first one.
   *
   * @example
   * ```ts
   * for await (const upload of client.uploads.list()) console.log(upload.filename, upload.expires_at)
   * ```
   */
  list(filter?: UploadFilter, options?: CallOptions): ListPromise<Upload> {
    return this.transport.list('/uploads', filter, options)
  }

  /**
   * Reads the record of an upload.
   *
   * @example
   * ```ts
   * const { url, size } = await client.uploads.get(id)
   * console.log(url, size)
   * ```
   */
  get(id: string, options?: CallOptions): ApiPromise<Upload> {
    return this.send('GET', '/uploads/{id}', options, { params: { id } })
  }

  /**
   * Deletes an upload, whose URL then serves nothing any more.
   *
   * @example
   * ```ts
   * await client.uploads.delete(id)
   * ```
   */
  delete(id: string, options?: CallOptions): ApiPromise<DeletedUpload> {
    return apiPromise(this.#delete(id, options))
  }

  async #delete(id: string, options: CallOptions | undefined): Promise<WithResponse<DeletedUpload>> {
    let mayBeDone = false
    const canRepeat = (error: unknown) => {
      mayBeDone ||= mayHaveArrived(error)
      return true
    }
    const spec = { params: { id }, canRepeat }
    try {
      return await this.send<DeletedUpload>('DELETE', '/uploads/{id}', options, spec).withResponse()
    } catch (error) {
      const isGone = error instanceof NotFoundError && error.reason !== 'route_not_found'
      if (!mayBeDone || !isGone) throw error
      // An attempt whose answer was lost has deleted it.
      const { headers = new Headers(), requestId } = error
      return { data: { id }, response: new Response(null, { status: 404, headers }), requestId }
    }
  }

  async #create(
    file: UploadSource,
    params: UploadParams,
    options: CallOptions | undefined,
  ): Promise<WithResponse<Upload>> {
    const request = await uploadRequest(file, params)
    try {
      return await this.transport.data<Upload>(request, options).withResponse()
    } catch (error) {
      throw (await request.sourceError(error)) ?? error
    } finally {
      request.close()
    }
  }
}

/** Whether the gateway may have carried out the request before it failed. */
function mayHaveArrived(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.wasConnected
  return error instanceof StatusError && (error.status ?? 0) >= 500
}
