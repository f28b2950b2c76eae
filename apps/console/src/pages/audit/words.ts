import { useMessages } from 'use-intl'

/** What operations, targets and actors are called; those that only a newer version of the gateway knows by their own names. */
export function useWords() {
  const { audit } = useMessages()
  const operations = textsOf(audit.operations, (key) => key.replace(/^(api_keys|[^_]+)_/, '$1.'))
  const targets = textsOf(audit.targets)
  const actors = textsOf(audit.actors)
  return {
    operations: [...operations.keys()],
    targets: [...targets.keys()],
    operation: (name: string) => operations.get(name) ?? name,
    target: (name: string) => targets.get(name) ?? name,
    actor: (name: string) => actors.get(name) ?? name,
  }
}

/** The messages of a group by what they name. A dot in the name of a message would stand for a level. */
function textsOf(messages: Readonly<Record<string, string>>, nameOf = (key: string) => key) {
  return new Map(Object.entries(messages).map(([key, text]): [string, string] => [nameOf(key), text]))
}
