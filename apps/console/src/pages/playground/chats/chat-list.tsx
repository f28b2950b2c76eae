import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import {
  ConversationCountDocument,
  type ConversationFieldsFragment,
  ConversationsDocument,
} from '../../../generated/graphql.ts'
import { client } from '../../../session/gateway.ts'
import { graphqlPages, graphqlQuery } from '../../../session/queries.ts'
import { useSession } from '../../../session/use-session.ts'
import { LoadMore } from '../../../ui/load-more.tsx'
import { ErrorNotice, Loading } from '../../../ui/notice.tsx'
import { RenameDialog } from '../../../ui/overlays/rename-dialog.tsx'
import { DeleteConversation, rereadConversations } from '../../conversations/delete-conversation.tsx'
import styles from './chat-list.module.css'
import { ChatRow } from './chat-row.tsx'
import { forgetChat } from './use-chat.ts'

const CHATS_AT_ONCE = 30
const NAME_CHARACTERS_MAX = 200

/** The user's own conversations, without those that programs have on behalf of others. */
const useFilter = () => ({ ownerId: useSession().userId, endUser: '' })

export function useChats() {
  const variables = { filter: useFilter(), first: CHATS_AT_ONCE }
  return useInfiniteQuery(graphqlPages(ConversationsDocument, variables, (data) => data.conversations))
}

export function useChatCount(): number {
  const { data } = useQuery(graphqlQuery(ConversationCountDocument, { filter: useFilter() }))
  return data?.conversations?.totalCount ?? 0
}

interface ChatListProps {
  /** The client's id of the conversation that is shown. */
  readonly shownId: string | undefined
  /** Called when a chat was chosen. */
  onChoose?(): void
}

/** The chats of the user with all agents, as the gateway has them. */
export function ChatList({ shownId, onChoose }: ChatListProps) {
  const t = useTranslations('playground.chats')
  const navigate = useNavigate()
  const query = useChats()
  const [renamed, setRenamed] = useState<ConversationFieldsFragment>()
  const [deleted, setDeleted] = useState<ConversationFieldsFragment>()
  const chats = query.data?.pages.flatMap(({ conversations }) => conversations?.nodes ?? [])
  if (chats === undefined)
    return query.error === null ? (
      <Loading shape="lines" />
    ) : (
      <ErrorNotice error={query.error} retry={query.refetch} />
    )
  return (
    <div className={styles.chats}>
      {chats.length === 0 ? (
        <p className={styles.hint}>{t('none')}</p>
      ) : (
        <ul className={styles.list} aria-label={t('title')}>
          {chats.map((chat) => (
            <ChatRow
              key={chat.id}
              chat={chat}
              isShown={chat.conversationId === shownId}
              onChoose={onChoose}
              onRename={() => setRenamed(chat)}
              onDelete={() => setDeleted(chat)}
            />
          ))}
        </ul>
      )}
      <LoadMore query={query} />
      <RenameDialog
        title={t('rename')}
        label={t('name')}
        name={renamed && (renamed.name ?? '')}
        maxLength={NAME_CHARACTERS_MAX}
        rename={async (name) => {
          if (renamed !== undefined) await client.conversations.rename(renamed.id, name)
          await rereadConversations()
        }}
        onClose={() => setRenamed(undefined)}
      />
      {deleted !== undefined && (
        <DeleteConversation
          conversation={deleted}
          isOpen
          onClose={() => setDeleted(undefined)}
          onDeleted={async () => {
            if (deleted.conversationId === shownId) await navigate({ to: '.', search: {}, replace: true })
            forgetChat(deleted)
          }}
        />
      )}
    </div>
  )
}
