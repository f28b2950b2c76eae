import { getRouteApi } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { SelectField, TextField } from '../../ui/fields/field.tsx'
import type { Agent } from '../agents/agent.ts'
import styles from './playground.module.css'

const route = getRouteApi('/shell/playground/$id')

/**
 * The app that a new chat asks. It is in the address, so that a chat with one app can be linked to. Another one begins a new chat, and
 * Back leads to the one before.
 */
export function useApp(agent: Agent): readonly [string, (app: string) => void] {
  const { app, chat } = route.useSearch()
  const navigate = route.useNavigate()
  return [
    app ?? firstApp(agent),
    (chosen) =>
      void navigate({
        search: chosen === firstApp(agent) ? {} : { app: chosen },
        replace: chat === undefined,
      }),
  ]
}

/** An agent of the sandbox accepts any app. */
function firstApp({ apps, requires, sandbox }: Agent): string {
  if (!requires.includes('appId')) return ''
  return apps[0]?.appId ?? (sandbox ? 'demo' : '')
}

interface AppChoiceProps {
  readonly agent: Agent
  readonly app: string
  onChange(app: string): void
}

/** One of the agent's apps; or, where the gateway does not know them, the id of one. */
export function AppChoice({ agent, app, onChange }: AppChoiceProps) {
  const t = useTranslations('playground')
  const isRequired = agent.requires.includes('appId')
  if (agent.apps.length > 0)
    return (
      <SelectField
        className={styles.app}
        label={t('app')}
        hint={t('appHint')}
        value={app}
        onChange={({ target }) => onChange(target.value)}
      >
        {!isRequired && <option value="">{t('defaultApp')}</option>}
        {/* A chat from before may name an app that the agent has no more. */}
        {app !== '' && !agent.apps.some(({ appId }) => appId === app) && <option value={app}>{app}</option>}
        {agent.apps.map(({ appId, name }) => (
          <option key={appId} value={appId}>
            {name}
          </option>
        ))}
      </SelectField>
    )
  // The other platforms choose the app by the gateway's credentials.
  if (!isRequired) return null
  return (
    <TextField
      key={app}
      className={styles.app}
      label={t('appId')}
      hint={t('appHint')}
      defaultValue={app}
      required
      spellCheck={false}
      autoComplete="off"
      onBlur={({ target }) => {
        if (target.value !== app) onChange(target.value)
      }}
    />
  )
}
