import Type from 'typebox'
import { MADE_FILE_TYPES, type OfferedFile } from '#core/agents/made-file.ts'
import { oneOf } from '#http/response/schemas.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))

export const ReplyFileSchema = Type.Unsafe<OfferedFile>(
  Type.Object(
    {
      url: text('Where it can be read; absent where it cannot be reached.'),
      type: oneOf(MADE_FILE_TYPES, 'The kind of the file.'),
      name: text('Its name, where the platform reports one.'),
      media_type: text('Its media type, where the platform reports it.'),
    },
    {
      $id: 'ReplyFile',
      description: 'A file that the agent has made. The text of the reply shows it as well, as Markdown.',
      examples: [{ url: 'https://files.example.com/chart.png', type: 'image', name: 'chart.png' }],
    },
  ),
)
