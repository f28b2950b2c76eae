import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { MessagesSquare } from 'lucide-react'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import { ConversationDocument, type ConversationFieldsFragment } from '../../generated/graphql.ts'
import { RowFacts } from '../../lists/row-facts.tsx'
import { client } from '../../session/gateway.ts'
import { graphqlQuery, invalidate } from '../../session/queries.ts'
import { useSession } from '../../session/use-session.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CodeWithCopy } from '../../ui/copy/code-with-copy.tsx'
import { RenameDialog } from '../../ui/overlays/rename-dialog.tsx'
import { useToast } from '../../ui/overlays/toasts.tsx'
import { Page } from '../../ui/page.tsx'
import { UnreadPage } from '../../ui/unread-page.tsx'
import callStyles from '../calls/calls.module.css'
import { rangeAround } from '../calls/calls-range.ts'
import { chatSearchOf } from '../playground/chats/chat-row.tsx'
import { forgetChat } from '../playground/chats/use-chat.ts'
import { ConversationMessages } from './conversation-messages.tsx'
import { ConversationState } from './conversations-table.tsx'
import { DeleteConversation, rereadConversations } from './delete-conversation.tsx'

const route = getRouteApi('/shell/conversations/$id')
const NAME_CHARACTERS_MAX = 200

/** One conversation: what was said in it, what is known of it, and its changes. */
export function ConversationPage() {
  const t = useTranslations('conversations')
  const { id } = route.useParams()
  const query = useQuery(graphqlQuery(ConversationDocument, { id }))
  const conversation = query.data?.conversation
  if (conversation == null) return <UnreadPage title={t('conversation')} query={query} />
  return <LoadedConversation key={id} conversation={conversation} />
}

function LoadedConversation({ conversation }: { readonly conversation: ConversationFieldsFragment }) {
  const t = useTranslations('conversations')
  const toast = useToast()
  const { userId } = useSession()
  const navigate = route.useNavigate()
  const [dialog, setDialog] = useState<'rename' | 'delete'>()
  const { id, name, conversationId, agent, agentId, ownerId } = conversation
  const close = () => setDialog(undefined)
  function goOn() {
    forgetChat(conversation)
    void navigate({ to: '/playground/$id', params: { id: agentId }, search: chatSearchOf(conversation) })
  }
  async function rename(changed: string) {
    const { passed_on } = await client.conversations.rename(id, changed)
    if (passed_on === 'failed') toast(t('nameNotPassedOn'))
    await Promise.all([rereadConversations(), invalidate(ConversationDocument)])
  }
  return (
    <Page
      title={name ?? conversationId}
      actions={
        <>
          {/* With keys of one's own, the same id is another conversation than that of another user. */}
          {ownerId === userId && agent?.features.conversation === true && (
            <Button look="primary" onClick={goOn}>
              <MessagesSquare aria-hidden />
              {t('goOn')}
            </Button>
          )}
          <Button onClick={() => setDialog('rename')}>{t('rename')}</Button>
          <Button look="danger" onClick={() => setDialog('delete')}>
            {t('delete')}
          </Button>
        </>
      }
    >
      <div className={callStyles.page}>
        <ConversationMessages conversation={conversation} />
        <ConversationFacts conversation={conversation} />
      </div>
      <RenameDialog
        title={t('rename')}
        label={t('name')}
        name={dialog === 'rename' ? (name ?? '') : undefined}
        maxLength={NAME_CHARACTERS_MAX}
        rename={rename}
        onClose={close}
      />
      <DeleteConversation
        conversation={conversation}
        isOpen={dialog === 'delete'}
        onClose={close}
        onDeleted={() => {
          forgetChat(conversation)
          return navigate({ to: '/conversations' })
        }}
      />
    </Page>
  )
}

/** What is known of a conversation, with the ways to its agent, its owner and its calls. */
function ConversationFacts(props: { readonly conversation: ConversationFieldsFragment }) {
  const t = useTranslations('conversations')
  const calls = useTranslations('calls')
  const isAdmin = useSession().role === 'admin'
  const { conversation } = props
  const { conversationId, agentId, appId, ownerId, endUser, lastActivityAt } = conversation
  // The same id of another user, end user, agent or app is another conversation.
  const search = {
    ...rangeAround(lastActivityAt),
    ...{ conversation: conversationId, agent: agentId, app: appId, endUser },
    ...(isAdmin && { user: ownerId }),
  }
  return (
    <Card
      title={t('conversation')}
      aside={
        <Link to="/calls" search={search}>
          {calls('call.otherCalls')}
        </Link>
      }
    >
      <RowFacts
        of="conversations"
        row={conversation}
        facts={[
          [t('clientId'), <CodeWithCopy key="id" text={conversationId} />],
          'agent',
          [calls('call.app'), appId && <code key="app">{appId}</code>],
          'endUser',
          ...(isAdmin ? (['owner'] as const) : []),
          'turns',
          [t('lastOutcome'), <ConversationState key="state" conversation={conversation} />],
          [t('lastActivity'), <Moment key="last" at={lastActivityAt} />],
          [t('createdAt'), <Moment key="created" at={conversation.createdAt} />],
        ]}
      />
    </Card>
  )
}
