import multipart, { type Multipart } from '@fastify/multipart'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fail, Problem } from '#core/base/errors/errors.ts'
import { errorCode } from '#core/base/values/error-code.ts'
import type { UploadPart } from '#core/uploads/upload-request.ts'
import { FormOverhead } from './form-overhead.ts'
import { requireIdentity } from './json-body.ts'

/** An upload has three parts at most. A few more are parsed, so that the error can name them. */
const PARTS_MAX = 10

const LIMITS = {
  parts: PARTS_MAX,
  fields: PARTS_MAX,
  files: PARTS_MAX,
  fieldSize: 4_096,
  headerPairs: 20,
  // The upload service counts the bytes, because only it knows how much space the owner has left.
  fileSize: Number.POSITIVE_INFINITY,
}

/** Makes the routes of this context accept `multipart/form-data` and nothing else. The parts are streams, read by {@link partsOf}. */
export async function installMultipartBody(app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers()
  await app.register(multipart, { limits: LIMITS, throwFileSizeLimit: false })
  app.addHook('onSend', async (request, reply) => {
    if (!request.raw.complete) discardRest(request, reply)
  })
  app.setErrorHandler((error: FastifyError) => {
    // Fastify passes it on to the error handler of all routes.
    throw error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
      ? new Problem('unsupported_media_type', EXPECTED)
      : error
  })
}

const EXPECTED = { detail: 'content-type: expected multipart/form-data.' }

/**
 * A request that was refused while it was still arriving: the connection closes soon after the response. What the client
 * sends meanwhile is discarded, so that the response reaches a client that reads it only after it has sent everything.
 */
function discardRest({ raw }: FastifyRequest, reply: FastifyReply): void {
  reply.header('connection', 'close')
  raw.unpipe()
  raw.resume()
}

/**
 * The parts of the form in the order in which they arrive.
 *
 * @throws Problem `unsupported_media_type` for another body, `invalid_request` for one without a boundary; later, from the
 * iterator and from the body of a file, `invalid_request` if the form is broken and `body_too_large` if it is padded
 */
export function partsOf(request: FastifyRequest): AsyncGenerator<UploadPart, void> {
  requireIdentity(request.headers['content-encoding'] ?? '')
  if (!request.isMultipart()) fail('unsupported_media_type', EXPECTED)
  if (!BOUNDARY.test(request.headers['content-type'] ?? '')) {
    fail('invalid_request', 'content-type: expected multipart/form-data with a boundary.')
  }
  return readParts(request)
}

const BOUNDARY = /;\s*boundary\s*=\s*(?:[^\s";]|"[^"])/i

async function* readParts(request: FastifyRequest): AsyncGenerator<UploadPart, void> {
  const overhead = new FormOverhead()
  const parts = request.parts()
  try {
    for (;;) {
      // In this order, because the parser, which starts with the first part, must be the first to listen to the request.
      const { done, value: part } = await Promise.race([parts.next(), overhead.watch(request.raw)])
      if (done === true) break
      if (part.type === 'file') overhead.exclude(part.file)
      yield toPart(part)
    }
    overhead.check()
  } catch (error) {
    throw brokenForm(error)
  }
}

function toPart(part: Multipart): UploadPart {
  // The library's type is wrong for a part without a name.
  const name: string = part.fieldname ?? ''
  if (part.type === 'file') {
    return {
      kind: 'file',
      name,
      filename: part.filename || undefined,
      body: part.file,
      problemOf: brokenForm,
    }
  }
  // The library has parsed it, and what the client wrote is lost.
  if (typeof part.value !== 'string' || part.mimetype === 'application/json')
    fail('invalid_request', JSON_PART)
  return { kind: 'field', name, value: part.value }
}

const JSON_PART = {
  field: [],
  detail: 'expected created_by and end_user as plain text; got a part of the type application/json.',
}

function brokenForm(cause: unknown): Problem {
  if (cause instanceof Problem) return cause
  switch (errorCode(cause)) {
    case 'FST_INVALID_JSON_FIELD_ERROR':
      return new Problem('invalid_request', { ...JSON_PART, cause })
    case 'FST_PROTO_VIOLATION':
      return invalidForm(
        'expected the parts file, created_by and end_user; got one with a reserved name.',
        cause,
      )
    case 'FST_PARTS_LIMIT':
    case 'FST_FIELDS_LIMIT':
    case 'FST_FILES_LIMIT':
      return invalidForm(
        `expected the parts file, created_by and end_user; got more than ${PARTS_MAX} parts.`,
        cause,
      )
    default:
      return invalidForm('is not complete multipart/form-data.', cause)
  }
}

function invalidForm(detail: string, cause: unknown): Problem {
  return new Problem('invalid_request', { field: [], detail, cause })
}
