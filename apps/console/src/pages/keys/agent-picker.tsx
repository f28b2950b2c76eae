import { useTranslations } from 'use-intl'
import { useAgentChoices } from '../../choose/use-choices.ts'
import { CheckField } from '../../ui/fields/field.tsx'
import styles from './keys.module.css'
import { selectableAgents, toggled } from './selectable-agents.ts'

interface AgentPickerProps {
  readonly value: readonly string[]
  onChange(value: readonly string[]): void
}

/** Agents to choose, each as a whole or some of its apps. */
export function AgentPicker({ value, onChange }: AgentPickerProps) {
  const t = useTranslations('keys.form')
  const agents = selectableAgents(useAgentChoices(), value)
  return (
    <div className={styles.agents}>
      {agents.map((agent) => (
        <div key={agent.entry} className={styles.options}>
          <CheckField
            label={agent.name}
            checked={value.includes(agent.entry)}
            onChange={() => onChange(toggled(value, agent.entry))}
          />
          {agent.apps.length > 0 && (
            <div className={styles.apps}>
              {agent.apps.map((app) => (
                <CheckField
                  key={app.entry}
                  label={app.name}
                  aria-label={t('appOf', { app: app.name, agent: agent.name })}
                  checked={value.includes(agent.entry) || value.includes(app.entry)}
                  disabled={value.includes(agent.entry)}
                  onChange={() => onChange(toggled(value, app.entry))}
                />
              ))}
            </div>
          )}
        </div>
      ))}
    </div>
  )
}
