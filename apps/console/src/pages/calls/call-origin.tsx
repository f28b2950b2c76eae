import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useSession } from '../../session/use-session.ts'
import { Card } from '../../ui/card.tsx'
import { CodeWithCopy } from '../../ui/copy/code-with-copy.tsx'
import { Facts } from '../../ui/facts.tsx'
import type { CallDetails } from './call-details.ts'
import { rangeAround } from './calls-range.ts'

/** Who called what, with the ways to the key, the agent, the owner and the conversation. */
export function CallOrigin({ call }: { readonly call: CallDetails }) {
  const t = useTranslations('calls')
  const { role } = useSession()
  const { conversationId, deployment, endUser } = call
  return (
    <Card title={t('call.origin')}>
      <Facts
        facts={[
          [t('requestId'), <CodeWithCopy key="request" text={call.requestId} />],
          [t('call.kind'), t(`call.kinds.${call.kind}`)],
          [t('call.face'), t(`call.faces.${call.face}`)],
          [t('agent'), call.agentId === '' ? null : <AgentLink key="agent" call={call} />],
          [t('call.app'), call.appId === '' ? null : <code key="app">{call.appId}</code>],
          [t('call.deployment'), deployment === null ? null : <code key="deployment">{deployment}</code>],
          [t('call.model'), call.model],
          [t('key'), <KeyLink key="key" call={call} />],
          [t('call.owner'), role === 'admin' ? <OwnerLink key="owner" call={call} /> : null],
          [t('call.endUser'), endUser === '' ? null : endUser],
          [
            t('call.conversation'),
            conversationId === '' ? null : <ConversationLink key="conversation" call={call} />,
          ],
        ]}
      />
    </Card>
  )
}

interface LinkProps {
  readonly call: CallDetails
}

function AgentLink({ call: { agent, agentId } }: LinkProps) {
  if (agent === null) return <code>{agentId}</code>
  return (
    <Link to="/agents" search={{ id: agent.id }}>
      {agent.name}
    </Link>
  )
}

function KeyLink({ call: { key, keyId } }: LinkProps) {
  return (
    <Link to="/keys/$id" params={{ id: keyId }}>
      {key?.name ?? keyId}
    </Link>
  )
}

function OwnerLink({ call: { owner, ownerId } }: LinkProps) {
  return (
    <Link to="/users/$id" params={{ id: ownerId }}>
      {owner?.username ?? ownerId}
    </Link>
  )
}

function ConversationLink({ call }: LinkProps) {
  const t = useTranslations('calls.call')
  const search = {
    ...rangeAround(call.admittedAt),
    conversation: call.conversationId,
    agent: call.agentId,
  }
  return (
    <>
      <CodeWithCopy text={call.conversationId} />
      <Link to="/calls" search={search}>
        {t('otherCalls')}
      </Link>
    </>
  )
}
