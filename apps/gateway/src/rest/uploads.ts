import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  FastifySchemaCompiler,
} from 'fastify'
import Type from 'typebox'
import type { ErrorReason } from '#core/base/errors/errors.ts'
import type { CallObserver } from '#core/calls/call-events.ts'
import { readPage } from '#core/requests/input/pagination.ts'
import type { Services } from '#core/services/services.ts'
import { CREATED_BY_CHARACTERS_MAX, UPLOAD_USER_CHARACTERS_MAX } from '#core/uploads/upload-request.ts'
import type { Upload } from '#generated/prisma/client.ts'
import { END_USER_DESCRIPTIONS } from '#http/descriptions/end-user-descriptions.ts'
import {
  ANY_PROBLEMS,
  anyCredential,
  bearerOf,
  callerOf,
  KEY_PROBLEMS,
  keyOnly,
} from '#http/guards/credentials.ts'
import { smallRead } from '#http/guards/small-read.ts'
import { abortedWith } from '#http/request/aborted-with.ts'
import { bodySchema } from '#http/request/body-schema.ts'
import { inBody, inHeader } from '#http/request/field-place.ts'
import { judgePage } from '#http/request/judge-page.ts'
import { partsOf } from '#http/request/multipart-body.ts'
import { BODY_PROBLEMS } from '#http/response/body-problems.ts'
import { LIMIT_HEADERS } from '#http/response/response-headers.ts'
import { envelope, listQuery, PageQuery, page, problems, ref, success } from '#http/response/schemas.ts'
import { showCallId, showLimit, showLimitOfCall } from '#http/response/show-headers.ts'
import { UPLOAD } from '#resources/upload.ts'

type UploadServices = Pick<Services, 'uploads' | 'authentication' | 'reads'>

/** Receives files. Its context must have the body parser of `http/request/multipart-body.ts`. */
export function uploadRoute(app: FastifyInstance, services: UploadServices): void {
  const { uploads } = services
  const authenticateKey = keyOnly(services)
  app.addSchema(UploadFormSchema)
  const onRequest = async (request: FastifyRequest) => {
    await authenticateKey(request)
    uploads.requireUploader(callerOf(request), agentOf(request))
  }
  const route = {
    schema: receiveSchema,
    // The schema of the body describes the parts, which the service checks as they arrive.
    validatorCompiler: ofQueryAlone(app),
    onRequest,
    config: {
      isBodyStream: true,
      limitsBodyTime: false,
      fieldPlaces: () => ({ agent: inHeader('agent'), endUser: inBody('end_user') }),
    },
  }
  app.post('/api/v1/upload', route, async (request, reply) => {
    const upload = await uploads.receive(
      callerOf(request),
      {
        requestId: request.id,
        trace: request.trace,
        face: 'rest',
        credential: bearerOf(request),
        address: request.ip,
        agent: agentOf(request),
      },
      partsOf(request),
      abortedWith(reply),
      headersOf(request, reply),
    )
    return success(await recorderOf(services)(upload))
  })
}

function ofQueryAlone(app: FastifyInstance): FastifySchemaCompiler<FastifySchema> {
  return (route) => {
    const compile = route.httpPart === 'querystring' ? app.validatorCompiler : undefined
    return compile?.(route) ?? (() => true)
  }
}

/** Reads and deletes uploads. */
export function uploadsRoutes(app: FastifyInstance, services: UploadServices): void {
  const { uploads } = services
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const onRequest = anyCredential(services)
  const reads = smallRead(services)
  const record = recorderOf(services)
  app.addSchema(UPLOAD.schema)

  routes.get(
    '/api/v1/uploads',
    { schema: listSchema, onRequest, config: { judge: judgePage }, ...reads },
    async (request) => {
      const { items, nextCursor } = await readPage(request.query, (query) =>
        uploads.list(callerOf(request), query),
      )
      return success({ items: await Promise.all(items.map(record)), next_cursor: nextCursor })
    },
  )

  routes.get('/api/v1/uploads/:id', { schema: getSchema, onRequest, ...reads }, async (request) =>
    success(await record(await uploads.find(callerOf(request), request.params.id))),
  )

  routes.delete('/api/v1/uploads/:id', { schema: deleteSchema, onRequest }, async (request, reply) => {
    await uploads.remove(callerOf(request), request.params.id, showLimit(reply))
    return success({ id: request.params.id })
  })
}

function recorderOf({ uploads }: Pick<Services, 'uploads'>) {
  return async (upload: Upload) => UPLOAD.record({ ...upload, url: await uploads.urlOf(upload) })
}

function agentOf({ headers }: FastifyRequest): string | undefined {
  return headers.agent === undefined ? undefined : String(headers.agent)
}

/** Sends what is known of the call as headers, also if the upload fails later. */
function headersOf(request: FastifyRequest, reply: FastifyReply): CallObserver {
  const showLimitOf = showLimitOfCall(reply)
  return (event) => {
    showLimitOf(event)
    if (event.type === 'admitted') showCallId(request, reply, event.call.callId)
  }
}

const UploadFormSchema = bodySchema(
  {
    file: Type.Unsafe<Buffer>({
      type: 'string',
      format: 'binary',
      description: 'The file, with its name.',
      examples: ['(the content of the file)'],
    }),
    created_by: Type.String({
      minLength: 1,
      maxLength: CREATED_BY_CHARACTERS_MAX,
      description: 'A label of your choosing, which is kept with the file. It gives no rights.',
      examples: ['support-page'],
    }),
    end_user: Type.Optional(
      Type.String({
        maxLength: UPLOAD_USER_CHARACTERS_MAX,
        description:
          'The end user whom the file is of, as chats name it. With an erasure of this end user the file is deleted. It is not believed where a trusted proxy names the end users of requests.',
        examples: ['ann'],
      }),
    ),
  },
  {
    $id: 'UploadForm',
    description: 'A form with these parts and no others, in any order. Only `end_user` may be left out.',
  },
)

const upload = envelope(ref(UPLOAD.schema))
const params = Type.Object({ id: Type.String({ description: UPLOAD.fields.id.description }) })

const UPLOAD_PROBLEMS = [
  'invalid_request',
  'unknown_agent',
  'permission_denied',
  'agent_denied',
  'body_too_large',
  'upload_space_used_up',
  'unsupported_media_type',
  'file_type_not_accepted',
] as const satisfies ErrorReason[]

const receiveSchema = {
  tags: ['uploads'],
  operationId: 'upload',
  security: [{ apiKey: [] }],
  summary: 'Upload a file',
  description:
    'Stores a file and returns a URL by which anyone can read it until it expires. Send the URL in `files` of a chat to attach the file. The type is decided by the content of the file. The call counts towards the limit for uploads from the first byte of the file on.',
  'x-response-headers': ['X-Call-Id', ...LIMIT_HEADERS],
  headers: Type.Object({
    agent: Type.Optional(
      Type.String({
        description:
          'The agent that the file is meant for. It is checked and recorded; the file can be used with any agent.',
      }),
    ),
  }),
  consumes: ['multipart/form-data'],
  body: ref(UploadFormSchema),
  response: { 200: upload, ...problems(...KEY_PROBLEMS, ...UPLOAD_PROBLEMS) },
}

const reading = { tags: ['uploads'], security: [{ accessToken: [] }, { apiKey: [] }] }

const listSchema = {
  ...reading,
  operationId: 'listUploads',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'List your uploads',
  description: `Returns the caller's uploads, newest first. An API key without the permission \`admin\` gets those that were made with it. ${END_USER_DESCRIPTIONS.bound}`,
  querystring: listQuery(PageQuery),
  response: {
    200: envelope(page(ref(UPLOAD.schema))),
    ...problems('invalid_request', ...ANY_PROBLEMS, 'permission_denied'),
  },
}

const getSchema = {
  ...reading,
  operationId: 'getUpload',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'Read an upload',
  description: 'Returns the record of an upload with a fresh URL.',
  params,
  response: {
    200: upload,
    ...problems('invalid_request', ...ANY_PROBLEMS, 'permission_denied', 'upload_not_found'),
  },
}

const deleteSchema = {
  ...reading,
  operationId: 'deleteUpload',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'Delete an upload',
  description: 'Deletes the file and its record. The URL stops working.',
  params,
  response: {
    200: envelope(Type.Object({ id: Type.String({ description: 'The id of the deleted upload.' }) })),
    ...problems(...BODY_PROBLEMS, ...ANY_PROBLEMS, 'permission_denied', 'upload_not_found'),
  },
}
