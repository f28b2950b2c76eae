import { MADE_FILE_TYPES, type OfferedFile } from '#core/agents/made-file.ts'
import { closed } from '#resources/define/vocabulary.ts'
import { builder } from '../../builder.ts'
import { vocabularyEnum } from '../../enum-of.ts'

export const ChatFileType = vocabularyEnum(
  closed('ChatFileType', MADE_FILE_TYPES, 'The kind of a file that an agent has made.', {
    image: 'A picture.',
    document: 'A document, or a file of another kind.',
    audio: 'A recording.',
    video: 'A film.',
  }),
)

export const ChatFile = builder.objectRef<OfferedFile>('ChatFile').implement({
  description: 'A file that the agent has made. The text of the reply shows it as well.',
  fields: (t) => ({
    url: t.string({
      nullable: true,
      description: 'Where it can be read; null where it cannot be reached.',
      resolve: ({ url }) => url ?? null,
    }),
    type: t.expose('type', { type: ChatFileType, description: 'The kind of the file.' }),
    name: t.string({
      nullable: true,
      description: 'Its name; null if the platform reports none.',
      resolve: ({ name }) => name ?? null,
    }),
    mediaType: t.string({
      nullable: true,
      description: 'Its media type; null if the platform reports none.',
      resolve: ({ media_type: type }) => type ?? null,
    }),
  }),
})
