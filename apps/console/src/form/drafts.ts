import { useEffect } from 'react'
import type { FieldValues, UseFormReturn } from 'react-hook-form'
import { sessions } from '../session/gateway.ts'
import { useSession } from '../session/use-session.ts'

/** What was typed when a session ended, in memory alone, by its user and the name of the form. */
const drafts = new Map<string, unknown>()

/**
 * Keeps what is typed into a form while its session ends, for the same user after the login. Passwords are left out.
 *
 * @param name - identifies the form among all others, also among those of its kind for other records
 */
export function useFormDraft<Values extends FieldValues>(
  name: string,
  { getValues, reset }: Pick<UseFormReturn<Values>, 'getValues' | 'reset'>,
): void {
  const { userId } = useSession()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions of a form only pass on what they find.
  useEffect(() => {
    // The page of a session that has ended is still shown for a moment.
    if (userId === '') return
    const key = `${userId} ${name}`
    if (drafts.has(key))
      reset({ ...getValues(), ...(drafts.get(key) as Partial<Values>) }, { keepDefaultValues: true })
    drafts.delete(key)
    return () => {
      if (sessions.current === undefined) drafts.set(key, withoutPasswords(getValues()))
    }
  }, [userId, name])
}

function withoutPasswords<Values extends FieldValues>(values: Values): Partial<Values> {
  const kept = Object.entries(values).filter(([name]) => !name.includes('password'))
  return Object.fromEntries(kept) as Partial<Values>
}
