import { useNavigate } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import {
  ConversationCountDocument,
  type ConversationFieldsFragment,
  ConversationsDocument,
} from '../../generated/graphql.ts'
import { client } from '../../session/gateway.ts'
import { invalidate } from '../../session/queries.ts'
import { useSession } from '../../session/use-session.ts'
import { Confirm } from '../../ui/overlays/confirm.tsx'
import { useToast } from '../../ui/overlays/toasts.tsx'
import { chatsOf } from '../playground/chats/chats.ts'
import type { ChatsOfUser } from '../playground/chats/chats-of-user.ts'

export const rereadConversations = () => invalidate(ConversationsDocument, ConversationCountDocument)

interface DeleteConversationProps {
  readonly conversation: ConversationFieldsFragment
  readonly isOpen: boolean
  onClose(): void
}

/** Asks before a conversation is deleted, says what its platform will do, and afterwards what it has done. */
export function DeleteConversation({ conversation, isOpen, onClose }: DeleteConversationProps) {
  const t = useTranslations('conversations')
  const toast = useToast()
  const navigate = useNavigate()
  const { userId } = useSession()
  const { id, agent, agentId, ownerId } = conversation
  const reaches = agent?.features.conversations.delete === true
  return (
    <Confirm
      title={t('deleteTitle')}
      action={t('delete')}
      isOpen={isOpen}
      onClose={onClose}
      run={async () => {
        const { at_platform } = await client.conversations.delete(id)
        if (ownerId === userId) await forgetChat(chatsOf(userId), conversation)
        toast(t(`deleted.${at_platform}`))
        await navigate({ to: '/conversations' })
        await rereadConversations()
      }}
    >
      <p>{t(reaches ? 'deletesAtPlatform' : 'deletesHere', { agent: agent?.name ?? agentId })}</p>
      <p>{t('deletesMeans')}</p>
    </Confirm>
  )
}

/** In the playground, the next message would begin another conversation below turns that the agent has no more. */
async function forgetChat(chats: ChatsOfUser, conversation: ConversationFieldsFragment): Promise<void> {
  await chats.loaded
  const chat = chats.ofConversation(conversation)
  // What a browser cannot delete is no reason to call a conversation undeleted that is gone.
  if (chat !== undefined) await chats.remove(chat.id).catch(() => undefined)
}
