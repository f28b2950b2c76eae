import { useNavigate } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { SelectField } from '../../ui/fields/field.tsx'
import type { Agent } from '../agents/agent.ts'
import styles from './playground.module.css'

interface AgentChoiceProps {
  readonly agent: Agent
  readonly agents: readonly Agent[]
}

/** Another agent begins a new chat; the one that is shown stays in the list. */
export function AgentChoice({ agent, agents }: AgentChoiceProps) {
  const t = useTranslations('playground')
  const navigate = useNavigate()
  return (
    <SelectField
      className={styles.agent}
      label={t('agent')}
      value={agent.id}
      onChange={({ target }) => void navigate({ to: '/playground/$id', params: { id: target.value } })}
    >
      {agents.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  )
}
