import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { Facts } from '../../ui/facts.tsx'
import type { Agent } from './agent.ts'
import styles from './agents-page.module.css'
import { Deployments } from './deployments.tsx'

const FEATURES = ['stream', 'detail', 'files', 'conversation', 'usage', 'stop'] as const

/** What the row of an agent does not say: what it takes and can do, and for administrators its deployments. */
export function AgentDetails({ agent }: { readonly agent: Agent }) {
  const t = useTranslations('agents')
  const { name, description, requires, apps, features, deployments } = agent
  return (
    <section className={styles.details} aria-label={name}>
      <div className={styles.about}>
        {description !== '' && <p>{description}</p>}
        <Facts
          facts={[
            [
              t('requires'),
              requires.length === 0 ? (
                t('requiresNothing')
              ) : (
                <code key="requires">{requires.map(nameInRest).join(', ')}</code>
              ),
            ],
            [
              t('apps'),
              apps.length === 0
                ? t('noApps')
                : apps.map(({ appId, name }) => (
                    <div key={appId}>
                      {name} <code>{appId}</code>
                    </div>
                  )),
            ],
            [
              t('features'),
              FEATURES.filter((feature) => features[feature])
                .map((feature) => t(`feature.${feature}`))
                .join(' · '),
            ],
            [
              t('usage'),
              <Link key="usage" to="/usage" search={{ agent: agent.id }}>
                {t('usageOf', { name })}
              </Link>,
            ],
          ]}
        />
      </div>
      {deployments != null && <Deployments agent={agent} deployments={deployments} />}
    </section>
  )
}

/** GraphQL has `appId` for what is `app_id` in a chat over HTTP, in which most programs meet it. */
const nameInRest = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
