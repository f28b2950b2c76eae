import Type, { type Static } from 'typebox'
import { CREATED_BY_CHARACTERS_MAX, UPLOAD_USER_CHARACTERS_MAX } from '#core/uploads/upload-request.ts'
import type { Upload } from '#generated/prisma/client.ts'
import { UPLOAD_DESCRIPTIONS } from '#http/descriptions/upload-descriptions.ts'
import { bodySchema } from '#http/request/body-schema.ts'
import { timestamp, uuid } from '#http/response/schemas.ts'

export const UploadFormSchema = bodySchema(
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
    user: Type.Optional(
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
    description: 'A form with these parts and no others, in any order. Only `user` may be left out.',
  },
)

export const UploadSchema = Type.Object(
  {
    id: uuid(UPLOAD_DESCRIPTIONS.id),
    url: Type.String({
      format: 'uri',
      description: UPLOAD_DESCRIPTIONS.url,
      examples: ['https://gateway.example.com/files/3q2-7wAAbbCCW1d8Xv4tnQk0RmJz6Yp9sLhGfEuTcIo/report.pdf'],
    }),
    filename: Type.String({
      description: UPLOAD_DESCRIPTIONS.filename,
      examples: ['report.pdf'],
    }),
    content_type: Type.String({
      description: UPLOAD_DESCRIPTIONS.contentType,
      examples: ['application/pdf'],
    }),
    size: Type.Integer({ description: UPLOAD_DESCRIPTIONS.size, examples: [48_213] }),
    sha256: Type.String({
      description: UPLOAD_DESCRIPTIONS.sha256,
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
    created_by: Type.String({
      description: UPLOAD_DESCRIPTIONS.createdBy,
      examples: ['support-page'],
    }),
    user: Type.String({ description: UPLOAD_DESCRIPTIONS.endUser, examples: ['ann'] }),
    created_at: timestamp(UPLOAD_DESCRIPTIONS.createdAt),
    expires_at: timestamp(UPLOAD_DESCRIPTIONS.expiresAt),
  },
  { $id: 'Upload', description: 'The record of an uploaded file.' },
)

export function uploadRecord(upload: Upload, url: string): Static<typeof UploadSchema> {
  return {
    id: upload.id,
    url,
    filename: upload.filename,
    content_type: upload.mediaType,
    size: Number(upload.size),
    sha256: upload.sha256,
    created_by: upload.createdBy,
    user: upload.endUser,
    created_at: upload.createdAt.toISOString(),
    expires_at: upload.expiresAt.toISOString(),
  }
}
