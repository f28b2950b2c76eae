import { useTranslations } from 'use-intl'
import {
  ConversationCountDocument,
  type ConversationFieldsFragment,
  ConversationsDocument,
} from '../../generated/graphql.ts'
import { client } from '../../session/gateway.ts'
import { invalidate } from '../../session/queries.ts'
import { Confirm } from '../../ui/overlays/confirm.tsx'
import { useToast } from '../../ui/overlays/toasts.tsx'

export const rereadConversations = () => invalidate(ConversationsDocument, ConversationCountDocument)

interface DeleteConversationProps {
  readonly conversation: ConversationFieldsFragment
  readonly isOpen: boolean
  onClose(): void
  /** Leaves what shows the conversation. */
  onDeleted(): Promise<unknown>
}

/** Asks before a conversation is deleted, says what its platform will do, and afterwards what it has done. */
export function DeleteConversation({ conversation, isOpen, onClose, onDeleted }: DeleteConversationProps) {
  const t = useTranslations('conversations')
  const toast = useToast()
  const { id, agent, agentId } = conversation
  const reaches = agent?.features.conversations.delete === true
  return (
    <Confirm
      title={t('deleteTitle')}
      action={t('delete')}
      isOpen={isOpen}
      onClose={onClose}
      run={async () => {
        const { at_platform } = await client.conversations.delete(id)
        toast(t(`deleted.${at_platform}`))
        await onDeleted()
        await rereadConversations()
      }}
    >
      <p>{t(reaches ? 'deletesAtPlatform' : 'deletesHere', { agent: agent?.name ?? agentId })}</p>
      <p>{t('deletesMeans')}</p>
    </Confirm>
  )
}
