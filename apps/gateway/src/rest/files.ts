import { basename, dirname } from 'node:path'
import { send } from '@fastify/send'
import { create as contentDisposition } from 'content-disposition'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { fail, Problem } from '#core/base/errors/errors.ts'
import type { Services } from '#core/services/services.ts'
import { isPlainText } from '#core/uploads/content/media-types.ts'
import { wrongLength } from '#core/uploads/storage/of-length.ts'
import type { Upload } from '#generated/prisma/client.ts'
import { problemsOutsideApi } from '#http/response/schemas.ts'

/** Serves the files of a local disk. The token in the path is the authorization. */
export function fileRoutes(app: FastifyInstance, { uploads }: Pick<Services, 'uploads'>): void {
  app.get<{ Params: { token: string; name: string } }>(
    '/files/:token/:name',
    { schema: fileSchema },
    async (request, reply) => {
      // The router ignores a slash at the end, but the URL of a file is one text, as it is on S3.
      if (endsInSlash(request.url)) return fail('upload_not_found')
      const { path, upload, isAttachment } = await uploads.openByAddress(request.params)
      if (isWholeFile(request.headers.range, upload.size)) delete request.raw.headers.range
      // Handles ranges and conditions; the entity tag is made of size and time.
      const { type, statusCode, headers, stream, metadata } = await send(request.raw, basename(path), {
        root: dirname(path),
        contentType: false,
        dotfiles: 'allow',
        index: false,
        cacheControl: false,
      })
      if (type === 'directory' || statusCode === 404) return fail('upload_not_found')
      if (type === 'error') {
        // The library's body is a page in HTML.
        stream.destroy()
        if (statusCode >= 500) throw new Problem('unavailable', { limit: 'storage', cause: metadata.error })
        if (headers['Content-Range'] !== undefined) reply.header('content-range', headers['Content-Range'])
        return reply.status(statusCode).send()
      }
      if (BigInt(metadata.stat.size) !== upload.size) {
        stream.destroy()
        throw new Problem('unavailable', { limit: 'storage', cause: wrongLength(upload.size) })
      }
      reply
        .status(statusCode)
        .headers(headers)
        // A cache must ask again, because a file that was deleted must not be shown any more.
        .header('cache-control', 'private, no-cache')
        .header('cross-origin-resource-policy', 'cross-origin')
      if (statusCode !== 304) reply.headers(contentHeaders(upload, isAttachment))
      return reply.send(stream)
    },
  )
}

function endsInSlash(url: string): boolean {
  return /^[^?#]*\/(?:[?#]|$)/.test(url)
}

/** Browsers show plain text with a style of their own. */
const SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'"

/**
 * Whether a range means the last bytes of a file that has no more of them. It is then the whole file (RFC 9110, 14.1.2), which
 * `send` would answer with 416. Readers of archives and PDF ask for the end first.
 */
function isWholeFile(range: string | undefined, size: bigint): boolean {
  const [, bytes] = /^bytes=-(\d+)$/.exec(range ?? '') ?? []
  return bytes !== undefined && BigInt(bytes) >= size
}

function contentHeaders({ mediaType, filename }: Upload, isAttachment: boolean): Record<string, string> {
  return {
    'content-type': mediaType,
    'content-disposition': contentDisposition(filename, { type: isAttachment ? 'attachment' : 'inline' }),
    ...((isAttachment || isPlainText(mediaType)) && { 'content-security-policy': SANDBOX }),
  }
}

const fileSchema = {
  tags: ['uploads'],
  operationId: 'getFile',
  security: [],
  summary: 'Read an uploaded file',
  description:
    'Returns the content of an upload. The URL is part of the record of the upload; there is no other way to get it. Ranges and conditional requests are supported. Types that a browser could run are sent as attachments.',
  params: Type.Object({
    token: Type.String({ description: 'Random text that only the URL contains.' }),
    name: Type.String({ description: 'The name of the file.' }),
  }),
  response: {
    200: { description: 'The file.', content: { '*/*': { schema: Type.String({ format: 'binary' }) } } },
    206: {
      description: 'A range of the file.',
      content: { '*/*': { schema: Type.String({ format: 'binary' }) } },
    },
    304: Type.Null({ description: 'The client has the file already.' }),
    412: Type.Null({ description: 'The file is not the one that the request names.' }),
    416: Type.Null({ description: 'The file has no such range.' }),
    ...problemsOutsideApi('unavailable', 'upload_not_found'),
  },
}
