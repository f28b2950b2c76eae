import { useTranslations } from 'use-intl'
import { OPERATIONS, TARGETS } from './audit-search.ts'

/** What operations, targets and actors are called; those that only a newer version of the gateway knows by their own names. */
export function useWords() {
  const t = useTranslations('audit')
  return {
    operation(name: string): string {
      const known = OPERATIONS.find((operation) => operation === name)
      return known === undefined ? name : t(`operations.${keyOf(known)}`)
    },
    target(name: string): string {
      const known = TARGETS.find((target) => target === name)
      return known === undefined ? name : t(`targets.${known}`)
    },
    actor(name: string): string {
      const known = ACTORS.find((actor) => actor === name)
      return known === undefined ? name : t(`actors.${known}`)
    },
  }
}

const ACTORS = ['key', 'token', 'anonymous', 'command', 'gateway', 'database'] as const

type Operation = (typeof OPERATIONS)[number]
type WithoutDots<Name extends string> = Name extends `${infer One}.${infer Other}` ? `${One}_${Other}` : Name

/** A dot in the name of a message stands for a level. */
function keyOf<Name extends Operation>(name: Name): WithoutDots<Name> {
  return name.replace('.', '_') as WithoutDots<Name>
}
