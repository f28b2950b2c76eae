import { closed } from './define/vocabulary.ts'

export const MESSAGE_ROLE = closed('MessageRole', ['user', 'assistant'], 'Who said a message.', {
  user: 'The user.',
  assistant: 'The agent.',
})

export const PASSED_ON = closed(
  'PassedOn',
  ['yes', 'failed', 'unsupported'],
  'Whether the platform has it as well. If that has failed, nothing is lost here.',
  {
    yes: 'The platform has it as well.',
    failed: 'The platform could not be told.',
    unsupported: 'The platform takes no such thing.',
  },
)

export const AT_PLATFORM = closed(
  'ConversationAtPlatform',
  ['deleted', 'unsupported'],
  'Whether the platform has deleted it, too.',
  {
    deleted: 'The platform has deleted it.',
    unsupported: 'The platform cannot delete it, or had nothing of it.',
  },
)
