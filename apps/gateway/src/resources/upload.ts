import type { Upload } from '#generated/prisma/client.ts'
import { defineResource } from './define/define-resource.ts'
import { derivedFrom, id, key, large, text, time, user } from './define/fields.ts'

const DESCRIPTION = 'An uploaded file. Files are uploaded by `POST /api/v1/upload` of the REST API.'

const { computed } = derivedFrom<Upload>()

const FIELDS = {
  filename: text('The name of the file, such as `report.pdf`, without what a name must not contain.'),
  contentType: computed(
    text('The media type, decided by the content, such as `application/pdf`.'),
    ['mediaType'],
    ({ mediaType }) => mediaType,
  ),
  size: computed(large('The length of the file in bytes.'), ['size'], ({ size }) => Number(size)),
  sha256: text('The SHA-256 of the file in hex.'),
  createdBy: text('The label that the client sent with the file. It gives no rights.'),
  endUser: text('The end user whom the file is of; empty if the upload named none.'),
  createdAt: time('When the file was uploaded.'),
  expiresAt: time('When the file and its URL expire.'),
  ownerId: user(
    'The id of the user whom the file belongs to.',
    'The user whom the file belongs to; null if it is not yours to see.',
  ),
  keyId: key(
    'The id of the API key that uploaded the file.',
    'The API key that uploaded the file; null if it is not yours to see.',
  ),
}
const ID = id('The id of the upload.')
export const URL_OF_UPLOAD = text(
  'A public URL of the file, to be sent in `files` of a chat. It works until the upload expires or is deleted.',
)

/** An upload as its row has it. */
export const STORED_UPLOAD = defineResource<Upload>()('Upload', DESCRIPTION, { id: ID, ...FIELDS })

/** An upload with its URL, which is signed for each reader. */
export const UPLOAD = defineResource<Upload & { readonly url: string }>()(
  'Upload',
  DESCRIPTION,
  { id: ID, url: URL_OF_UPLOAD, ...FIELDS },
  {
    id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
    url: 'https://gateway.example.com/files/3q2-7wAAbbCCW1d8Xv4tnQk0RmJz6Yp9sLhGfEuTcIo/report.pdf',
    filename: 'report.pdf',
    content_type: 'application/pdf',
    size: 48_213,
    sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    created_by: 'support-page',
    end_user: 'ann',
    created_at: '2026-11-20T08:30:00.000Z',
    expires_at: '2026-11-27T08:30:00.000Z',
    owner_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12',
    key_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a11',
  },
)
