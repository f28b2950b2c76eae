import { UPLOAD_DESCRIPTIONS } from '#http/descriptions/upload-descriptions.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { foundOr } from '../reads/found-or.ts'
import { TOTAL_COUNT } from '../reads/total-count.ts'
import { ApiKey } from './api-key.ts'
import { Node } from './node.ts'
import { User } from './user.ts'

export const Upload = builder.prismaObject('Upload', {
  description: 'An uploaded file. Files are uploaded by `POST /api/v1/upload` of the REST API.',
  interfaces: [Node],
  select: { id: true },
  findUnique: ({ id }) => ({ id }),
  fields: (t) => ({
    url: t.string({
      description: UPLOAD_DESCRIPTIONS.url,
      select: { token: true, urlName: true, expiresAt: true },
      resolve: (upload, _args, { services }) => services.uploads.urlOf(upload),
    }),
    filename: t.exposeString('filename', { description: UPLOAD_DESCRIPTIONS.filename }),
    contentType: t.exposeString('mediaType', {
      description: UPLOAD_DESCRIPTIONS.contentType,
    }),
    size: t.field({
      type: 'SafeInt',
      description: UPLOAD_DESCRIPTIONS.size,
      select: { size: true },
      resolve: ({ size }) => Number(size),
    }),
    sha256: t.exposeString('sha256', { description: UPLOAD_DESCRIPTIONS.sha256 }),
    createdBy: t.exposeString('createdBy', {
      description: UPLOAD_DESCRIPTIONS.createdBy,
    }),
    endUser: t.exposeString('endUser', { description: UPLOAD_DESCRIPTIONS.endUser }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: UPLOAD_DESCRIPTIONS.createdAt }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: UPLOAD_DESCRIPTIONS.expiresAt,
    }),
    ownerId: t.exposeID('ownerId', { description: 'The id of the user whom the file belongs to.' }),
    owner: t.field({
      type: User,
      nullable: true,
      description: 'The user whom the file belongs to; null if it is not yours to see.',
      select: (_args, _context, nested) => ({ owner: nested() }),
      resolve: ({ owner }, _args, context) =>
        context.services.users.isVisibleTo(callerOf(context), owner) ? owner : null,
    }),
    keyId: t.exposeID('keyId', { description: 'The id of the API key that uploaded the file.' }),
    key: t.field({
      type: ApiKey,
      nullable: true,
      description: 'The API key that uploaded the file; null if it is not yours to see.',
      select: (_args, _context, nested) => ({
        key: nested({ select: { id: true, createdById: true, ownerId: true } }),
      }),
      resolve: ({ key }, _args, context) =>
        context.services.keys.isVisibleTo(callerOf(context), key) ? key : null,
    }),
  }),
})

export const UploadConnection = builder.connectionObject(
  {
    type: Upload,
    name: 'UploadConnection',
    description: 'A page of uploads.',
    fields: (t) => ({ totalCount: t.int(TOTAL_COUNT) }),
  },
  { name: 'UploadEdge', description: 'An upload and its place in the list.' },
)

builder.queryFields((t) => ({
  upload: t.prismaField({
    type: Upload,
    nullable: true,
    description:
      'The upload with this id, which belongs to you; an API key without `ADMIN` sees its own. Takes an access token, or an API key with the permission `UPLOAD` or `ADMIN`.',
    args: { id: t.arg.id({ required: true, description: UPLOAD_DESCRIPTIONS.id }) },
    resolve: (query, _root, { id }, { loaders }) => foundOr(loaders.upload(id, query), 'upload_not_found'),
  }),
  uploads: t.prismaConnection(
    {
      type: Upload,
      cursor: 'id',
      nullable: true,
      description:
        'Your uploads, newest first. An API key without the permission `ADMIN` gets those that were made with it. Takes an access token, or an API key with the permission `UPLOAD` or `ADMIN`.',
      resolve: (query, _root, _args, context) => context.services.uploads.list(callerOf(context), query),
      totalCount: (_root, _args, context) => context.services.uploads.count(callerOf(context)),
    },
    UploadConnection,
  ),
}))

const DeleteUploadInput = builder.inputType('DeleteUploadInput', {
  description: 'The upload to delete.',
  fields: (t) => ({ uploadId: t.id({ required: true, description: UPLOAD_DESCRIPTIONS.id }) }),
})

const DeleteUploadPayload = builder.objectRef<{ uploadId: string }>('DeleteUploadPayload').implement({
  description: 'What `deleteUpload` has done.',
  fields: (t) => ({
    uploadId: t.exposeID('uploadId', { description: 'The id that the upload had.' }),
  }),
})

builder.mutationField('deleteUpload', (t) =>
  t.field({
    type: DeleteUploadPayload,
    nullable: true,
    description:
      'Deletes the file and its record. The URL stops working. Takes an access token, or an API key with the permission `UPLOAD` or `ADMIN`.',
    args: { input: t.arg({ type: DeleteUploadInput, required: true, description: 'The upload to delete.' }) },
    resolve: async (_root, { input: { uploadId } }, context) => {
      await context.services.uploads.remove(callerOf(context), uploadId, showLimit(context.reply))
      return { uploadId }
    },
  }),
)
