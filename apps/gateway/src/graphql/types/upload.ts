import { showLimit } from '#http/response/show-headers.ts'
import { STORED_UPLOAD, URL_OF_UPLOAD } from '#resources/upload.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { foundOr } from '../reads/found-or.ts'
import { connectionOf } from '../resources/ordered-list.ts'
import { prismaResource } from '../resources/prisma-resource.ts'

export const Upload = prismaResource('Upload', STORED_UPLOAD)

builder.prismaObjectField(Upload, 'url', (t) =>
  t.string({
    description: URL_OF_UPLOAD.description,
    select: { token: true, urlName: true, expiresAt: true },
    resolve: (upload, _args, { services }) => services.uploads.urlOf(upload),
  }),
)

export const UploadConnection = connectionOf(Upload, 'uploads', 'An upload')

builder.queryFields((t) => ({
  upload: t.prismaField({
    type: Upload,
    nullable: true,
    description:
      'The upload with this id, which belongs to you; an API key without `ADMIN` sees its own. Takes an access token, or an API key with the permission `UPLOAD` or `ADMIN`.',
    args: { id: t.arg.id({ required: true, description: STORED_UPLOAD.fields.id.description }) },
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
  fields: (t) => ({ uploadId: t.id({ required: true, description: STORED_UPLOAD.fields.id.description }) }),
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
